import type { ToolDescriptor } from "../protocol/generated.ts";
import type { ProposedCall } from "./lane.ts";
import { LoopDetector } from "./loops.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { isObject } from "./parse.ts";

/** Where a turn stands: read from its messages alone, so that a reloaded page can go on with it. */
export interface TurnProgress {
  /** What the person said: the message that began the turn, and below it what they said while it went on. */
  readonly message: string;
  /** How many of the actions that were asked for are over: each ends with words. */
  readonly finished: number;
  /** What came of the calls that were proposed last, those left out that words have told of. */
  readonly results: readonly ToolMessage[];
  /** What the action under way came to, once its call has closed. */
  readonly result: ToolMessage | null;
  /** How often the model got its call wrong in the action under way. */
  readonly mistakes: number;
  /** Every call of the turn that has closed, in order. */
  readonly closed: readonly ToolMessage[];
}

export function progressOf(messages: readonly Message[], turnId: string): TurnProgress {
  let [message, finished, mistakes] = ["", 0, 0];
  let results: ToolMessage[] = [];
  const closed: ToolMessage[] = [];
  for (const each of messages) {
    if (each.turnId !== turnId) continue;
    if (each.role === "user") message = message === "" ? each.content : `${message}\n\n${each.content}`;
    else if (each.role === "tool") {
      closed.push(each);
      results.push(each);
      if (results.length === 1 && isMistake(each)) mistakes++;
    } else if (each.toolCalls.length > 0) results = [];
    else {
      // Of calls that were proposed together each is told of by itself.
      results = results.slice(1);
      finished++;
      mistakes = results.slice(0, 1).filter(isMistake).length;
    }
  }
  return { message, finished, results, result: results[0] ?? null, mistakes, closed };
}

/** Whether a model got its own call wrong, so that it may try again. */
export function isMistake({ result }: ToolMessage): boolean {
  return result.outcome === "invalidArguments" || result.outcome === "unknownTool";
}

const DECIDED: ReadonlySet<string> = new Set(["ok", "deniedByUser"]);

/**
 * Whether a call was made and decided in this turn already: what changes something is never done twice nor asked for again
 * after a no, and what only looks is not done twice in a row.
 */
export function isRepeat(
  proposal: ProposedCall,
  closed: readonly ToolMessage[],
  tools: readonly ToolDescriptor[],
): boolean {
  const twin = closed.findLast(
    ({ call, result }) =>
      DECIDED.has(result.outcome) &&
      call.name === proposal.name &&
      stable(call.arguments) === stable(proposal.arguments),
  );
  if (twin === undefined) return false;
  return tools.find((tool) => tool.name === proposal.name)?.category !== "read" || twin === closed.at(-1);
}

/** Whether the last of these calls closed a circle. */
export function isLooping(closed: readonly ToolMessage[]): boolean {
  const detector = new LoopDetector();
  return closed
    .map(({ call, result: { outcome, reason = "", content } }) =>
      detector.note(call.name, stable(call.arguments), JSON.stringify([outcome, reason, content])),
    )
    .includes(true);
}

/** The tools that a turn used, in one word: `tool:write_file+list_directory`, or `words`. */
export function labelOf(closed: readonly ToolMessage[], tools: readonly ToolDescriptor[]): string {
  const known = new Set(tools.map((tool) => tool.name));
  const names = closed.map(({ call }) => (known.has(call.name) ? call.name : "unknown"));
  return names.length === 0 ? "words" : `tool:${names.join("+")}`;
}

/** The same text for the same value, in whatever order its members were written. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}
