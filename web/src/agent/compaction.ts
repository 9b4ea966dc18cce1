import limits from "../../../loop/limits.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import { cut, splitTurns, tokensOf } from "./budget.ts";
import type { ChatMessage } from "./chat.ts";
import type { Message } from "./messages.ts";
import { neutralise } from "./provenance.ts";
import { asEntry, told } from "./render.ts";

/*
 * Make room in a long conversation: what is told again in a summary, and what never is. The model words the summary, so nothing
 * that decides anything may depend on it. The present task, the last observation and every refusal stay as they are; grants are
 * the gateway's and stand in no message. The summary goes in as the model's own words: what it says is never taken for
 * something that the person wrote.
 */

/** Stands for a turn's id where a summary stands for turns. */
export const SUMMARY_TURN = "summary";

/** Characters of a summary. */
const MAX_SUMMARY = limits.summaryCharacters;

/** Tokens that have to be taken out: what the longest summary puts in, with what stands around it. */
const GAIN = limits.compactionGainTokens;

/** Shares of the limit: from where on room is made, and how much is to be left used. */
const NEAR = limits.compactionStart;
const GOAL = limits.compactionGoal;

/** Fewer than the usual four, so that a transcript of figures and code fits too. */
const CHARACTERS_PER_TOKEN = limits.charactersPerDenseToken;

/** Characters that each message of a transcript keeps at least. */
const SHORTEST = limits.transcriptLineCharacters;

/** What a person cannot see or a terminal obeys. */
const UNSEEN = /(?![\t\n])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

const REFUSALS: ReadonlySet<string> = new Set(["deniedByUser", "refusedByPolicy", "stepUpFailed"]);

/** What a summary takes the place of: the numbers of the messages, ascending, and the number of the one it goes before. */
export interface Compaction {
  readonly kind: "compaction";
  readonly replaced: readonly number[];
  readonly before: number;
}

/** A warning: what must stay is more than fits, in tokens. The person is told before anything is left out. */
export interface ContextFull {
  readonly kind: "full";
  readonly used: number;
  readonly limit: number;
}

/**
 * What to do about a conversation that has `limit` tokens of room: nothing, summarise, or warn. The oldest turns go first and
 * whole. Where that is not enough, steps of the present turn go, but its task and its last observation stay. To be asked again
 * after a summary went in; it ends, because every summary is shorter than what it replaces.
 */
export function planCompaction(messages: readonly Message[], limit: number): Compaction | ContextFull | null {
  const used = tokensOf(messages);
  if (used <= Math.max(0, limit) * NEAR) return null;
  const turns = splitTurns(messages);
  const present = turns.slice(0, -1).flat().length;
  const replaced: Placed[] = [];
  let freed = 0;
  for (const chunk of chunksOf(turns)) {
    if (used - freed <= limit * GOAL) break;
    replaced.push(...chunk);
    freed += tokensOf(chunk.map(({ message }) => message));
  }
  const numbers = replaced.map(({ at }) => at);
  if (freed > GAIN) return { kind: "compaction", replaced: numbers, before: Math.min(present, ...numbers) };
  return used > limit ? { kind: "full", used, limit } : null;
}

/** The prompt that asks for a summary, with a transcript of at most about `maxTokens`. */
export function summaryPrompt(
  messages: readonly Message[],
  { replaced }: Compaction,
  maxTokens: number,
): ChatMessage[] {
  const share = Math.max(SHORTEST, Math.floor((maxTokens * CHARACTERS_PER_TOKEN) / replaced.length));
  const lines = messages.filter((_, at) => replaced.includes(at)).map((message) => asEntry(cut(told(message), share)));
  return [
    { role: "system", content: words.compaction.system },
    { role: "user", content: lines.join("\n") },
  ];
}

/** A summary as it may go in: bounded, without markers of roles, saying what it stands for; null where there is none. */
export function accept(summary: string, { replaced }: Compaction): string | null {
  const body = cut(neutralise(summary.replace(UNSEEN, " ")).trim(), MAX_SUMMARY);
  const mark = words.compaction.mark.replace("{count}", String(replaced.length));
  return body === "" ? null : `${mark}\n${body}`;
}

/**
 * A compaction that was planned on a view of a conversation, for all of it. What the view leaves out of a turn goes when
 * something of that turn goes; but the results of calls that stay, stay, for model servers take no call without its result.
 */
export function widen({ replaced }: Compaction, view: readonly Message[], whole: readonly Message[]): Compaction {
  const gone = new Set(view.filter((_, at) => replaced.includes(at)));
  const turns = new Set([...gone].map(({ turnId }) => turnId));
  const seen = new Set(view);
  const kept = view.filter((each) => each.role === "assistant").filter((each) => !gone.has(each));
  const calls = new Set(kept.flatMap(({ toolCalls }) => toolCalls.map(({ id }) => id)));
  const goes = (message: Message) => {
    if (seen.has(message)) return gone.has(message);
    return turns.has(message.turnId) && !(message.role === "tool" && calls.has(message.call.id));
  };
  const numbers = [...whole.entries()].filter(([, message]) => goes(message)).map(([at]) => at);
  const present = splitTurns(whole).slice(0, -1).flat().length;
  return { kind: "compaction", replaced: numbers, before: Math.min(present, ...numbers) };
}

/** The conversation with an accepted summary in the place of what it stands for. */
export function compacted(messages: readonly Message[], { replaced, before }: Compaction, accepted: string): Message[] {
  const summary: Message[] = [
    { role: "user", turnId: SUMMARY_TURN, content: words.compaction.request },
    { role: "assistant", turnId: SUMMARY_TURN, content: accepted, toolCalls: [] },
  ];
  return messages.flatMap((message, at) => [
    ...(at === before ? summary : []),
    ...(replaced.includes(at) ? [] : [message]),
  ]);
}

interface Placed {
  readonly at: number;
  readonly message: Message;
}
/** A message that stands for itself, or calls together with their results: the one means nothing without the other. */
type Stage = Placed[];

/** What may go, in the order in which it goes: each turn that is over, then each step of the present one. */
function* chunksOf(turns: readonly Message[][]): Generator<readonly Placed[]> {
  let at = 0;
  const staged = turns.map((turn) => stagesOf(turn.map((message) => ({ at: at++, message }))));
  for (const [number, stages] of staged.entries()) {
    const isPresent = number === staged.length - 1;
    const hasRefusal = stages.some(isRefused);
    const going = (isPresent ? beforeLastObservation(stages) : stages)
      .filter((stage) => !isRefused(stage))
      // The task stays, and so does what was asked where it was refused: a refusal by itself would be a riddle.
      .filter((stage) => !((isPresent || hasRefusal) && stage[0]?.message.role === "user"));
    if (isPresent) yield* going;
    else yield going.flat();
  }
}

function stagesOf(turn: readonly Placed[]): Stage[] {
  const stages: Stage[] = [];
  for (const placed of turn) {
    const last = stages.at(-1);
    if (last !== undefined && placed.message.role === "tool") last.push(placed);
    else stages.push([placed]);
  }
  return stages;
}

function beforeLastObservation(stages: readonly Stage[]): readonly Stage[] {
  return stages.slice(
    0,
    Math.max(
      0,
      stages.findLastIndex((stage) => stage.at(-1)?.message.role === "tool"),
    ),
  );
}

function isRefused(stage: Stage): boolean {
  return stage.some(({ message }) => isRefusal(message));
}

/** Whether a message says that a call was refused, by the person or for them. */
export function isRefusal(message: Message): boolean {
  return message.role === "tool" && REFUSALS.has(message.result.outcome);
}
