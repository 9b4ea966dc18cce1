import type { ToolDescriptor } from "../protocol/generated.ts";
import { askedActs, isThing } from "./acts.ts";
import { isForAnother } from "./asked.ts";
import { ATTACHER } from "./attached.ts";
import { pointedReading } from "./further.ts";
import { isLog, LEVELS, leveled } from "./levels.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { termsIn } from "./ranking.ts";
import { readAgain } from "./read-before.ts";
import { readerAmong } from "./reading.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * A question about what the person attached with it, such as one about the rent in January beside a table. What was attached is in no
 * file of the workspace, so nothing is looked for there. It is answered as if it had just been read.
 */

const CONTENT: ReadonlySet<string> = new Set(vocabulary.contentVerbs);
const ASKING: ReadonlySet<string> = new Set([...vocabulary.askingWords, ...vocabulary.contentVerbs]);
const POINTING: ReadonlySet<string> = new Set([...vocabulary.fileReferences, ...vocabulary.places]);
const UNTELLING: ReadonlySet<string> = new Set([
  ...vocabulary.lightWords,
  ...vocabulary.commonTerms,
  ...vocabulary.contentVerbs,
]);
const TODAY: ReadonlySet<string> = new Set(["date", "day", "time", "now", ...Object.keys(vocabulary.nearDays)]);

/** What was attached right before this turn and a question is about, as if a tool had read it; null for any other wish. */
export function attachedFor(
  wish: string,
  messages: readonly Message[],
  turnId: string,
  tools: readonly ToolDescriptor[],
): ToolMessage | null {
  const reader = readerAmong(tools);
  if (reader === null) return null;
  for (const each of messages.filter((message) => message.role === "tool").reverse()) {
    if (each.turnId === turnId || each.call.name !== ATTACHER) return null;
    // Its first line says what it is; an image has no other.
    const [, ...lines] = each.result.content.split("\n");
    const call = { ...each.call, name: reader.name, arguments: { [reader.path]: each.call.arguments.name } };
    const content = lines.join("\n");
    const read: ToolMessage = { ...each, call, result: { ...each.result, content } };
    const isAsked = () => pointedReading(wish, [read], tools) ?? readAgain(wish, [read], turnId, tools);
    if (content !== "" && (asksOfIt(wish, tools, content) || isAsked() !== null)) return read;
  }
  return null;
}

/** Whether a wish names nothing else than what came with it: "summarise", "what went wrong here?", "how many errors?" of a log. */
function asksOfIt(wish: string, tools: readonly ToolDescriptor[], text: string): boolean {
  const words = wordsOf(wish);
  const isOther = words.some(({ start, end }) => isThing(wish.slice(start, end)));
  if (isOther || askedActs(wish).some(({ act }) => act !== "read") || isForAnother(wish, tools)) return false;
  if (words.some(({ bare }) => TODAY.has(bare))) return false;
  const isAsking = words.some(({ bare }) => ASKING.has(bare));
  if (isAsking && words.some(({ bare }) => POINTING.has(bare))) return true;
  if ([...leveled(termsIn(wish))].some((term) => LEVELS.has(term)) && isLog("", text)) return true;
  return words.some(({ bare }) => CONTENT.has(bare)) && words.every(({ bare }) => UNTELLING.has(bare));
}
