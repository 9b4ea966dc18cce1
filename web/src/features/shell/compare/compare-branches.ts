import type { Token, Tokens } from "marked";
import { type CallCard, type Conversation, type Entry, restore } from "../../../agent/conversation.ts";
import type { ConversationExport } from "../../../protocol/generated.ts";
import { readMarkdown } from "../log/formula-syntax.ts";
import { shownText } from "../log/own-words.ts";

/** How a part of one branch stands to the other branch. */
type Difference =
  | "same"
  /** The other branch has nothing like it in that turn. */
  | "only"
  /** The same call came to something else there. */
  | "result";

export type ComparedPart =
  | { readonly kind: "said"; readonly byPerson: boolean; readonly lines: readonly ComparedLine[] }
  | { readonly kind: "call"; readonly card: CallCard; readonly difference: Difference };

/** A line of what the person said. Of an answer a line of a paragraph, an item of a list, or another block, in Markdown. */
interface ComparedLine {
  readonly text: string;
  readonly difference: "same" | "only";
}

/** A turn of one branch beside the turn at the same place of the other; null where one branch has no such turn. */
export interface ComparedTurn {
  readonly left: readonly ComparedPart[] | null;
  readonly right: readonly ComparedPart[] | null;
}

/** Two branches from the turn with index `place` on, turn by turn. */
export function compareBranches(left: ConversationExport, right: ConversationExport, place: number): ComparedTurn[] {
  const [ours, theirs] = [turnsOf(left, place), turnsOf(right, place)];
  return Array.from({ length: Math.max(ours.length, theirs.length) }, (_, at) => ({
    left: compareTurn(ours[at], theirs[at]),
    right: compareTurn(theirs[at], ours[at]),
  }));
}

/** How many parts of a turn differ, in both branches together. */
export function countDifferences({ left, right }: ComparedTurn): number {
  const differs = (part: ComparedPart) =>
    part.kind === "call" ? part.difference !== "same" : part.lines.some(({ difference }) => difference === "only");
  return [...(left ?? []), ...(right ?? [])].filter(differs).length;
}

/** A turn: what was said in it, and its calls. */
type Turn = readonly (
  | Extract<Entry, { kind: "user" | "assistant" }>
  | { readonly kind: "call"; readonly card: CallCard }
)[];

function turnsOf({ messages, calls }: ConversationExport, place: number): Turn[] {
  const log: Conversation = restore(messages, calls, null);
  const first = log.turnIds[place];
  const begin = log.entries.findIndex((each) => each.kind === "user" && each.turnId === first);
  const turns: Turn[] = [];
  for (const entry of begin < 0 ? [] : log.entries.slice(begin)) {
    if (entry.kind === "user" && !entry.steered) turns.push([entry]);
    else if (entry.kind === "user" || entry.kind === "assistant") turns.push([...(turns.pop() ?? []), entry]);
    else if (entry.kind === "call") {
      const card = log.calls[entry.callId];
      if (card !== undefined) turns.push([...(turns.pop() ?? []), { kind: "call", card }]);
    }
  }
  return turns;
}

function compareTurn(turn: Turn | undefined, other: Turn = []): readonly ComparedPart[] | null {
  if (turn === undefined) return null;
  const said = new Set(other.flatMap((each) => (each.kind === "call" ? [] : linesIn(each))));
  const called = other.flatMap((each) => (each.kind === "call" ? [each.card] : []));
  return turn.map((part) =>
    part.kind === "call"
      ? { kind: "call", card: part.card, difference: differenceOf(part.card, called) }
      : {
          kind: "said",
          byPerson: part.kind === "user",
          lines: linesIn(part).map((text) => ({ text, difference: said.has(text) ? "same" : "only" })),
        },
  );
}

function linesIn(part: { readonly kind: "user" | "assistant"; readonly text: string }): string[] {
  return part.kind === "user" ? linesOf(part.text) : readBlocks(shownText(part)).flatMap(piecesOf);
}

function readBlocks(text: string): readonly Token[] {
  try {
    return readMarkdown(text);
  } catch {
    // As the log does with what overflows the reader's stack.
    return [{ type: "text", raw: text, text }];
  }
}

/** Pieces of a block that can be shown by themselves. */
function piecesOf(block: Token): string[] {
  switch (block.type) {
    case "paragraph":
    case "text":
      return linesOf(block.raw);
    case "list":
      return (block as Tokens.List).items.map(({ raw }) => raw.trimEnd());
    default:
      return block.raw.trim() === "" ? [] : [block.raw.trimEnd()];
  }
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function differenceOf({ call, result }: CallCard, others: readonly CallCard[]): Difference {
  const twins = others.filter(
    (other) => other.call.name === call.name && sorted(other.call.arguments) === sorted(call.arguments),
  );
  if (twins.length === 0) return "only";
  const isSame = twins.some(
    ({ result: theirs }) => theirs?.outcome === result?.outcome && theirs?.content === result?.content,
  );
  return isSame ? "same" : "result";
}

/** The same text for the same arguments, in whatever order they were written. */
function sorted(given: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(given).sort(([one], [other]) => (one < other ? -1 : 1)));
}
