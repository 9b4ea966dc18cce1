import type { ModelInfo, ToolDescriptor } from "../protocol/generated.ts";
import { estimateTokens } from "./budget.ts";
import type { Chat, ChatRequest, CutReason } from "./chat.ts";
import { enrich } from "./enrich.ts";
import { NOTHING, updateFocus } from "./focus.ts";
import { withGivenText } from "./given-text.ts";
import type { Message } from "./messages.ts";
import { type ReplyEnd, ReplyReader, readDeltas } from "./reply.ts";
import { spelledAsKnown } from "./spelling.ts";

/** A call as the model proposed it; it gets its id from the loop. */
export interface ProposedCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** Why a turn cannot go on, for which the loop has words of its own. */
export type StuckReason =
  /** Neither a call nor an answer came, after every repair. */
  | "unreadable"
  /** The model only says what it would do. */
  | "planning"
  /** It asks for what is done already. */
  | "repeated"
  /** The same calls come to the same results. */
  | "looping"
  /** The call that it writes does not fit into one step. */
  | "cut"
  /** Its reply was held back. */
  | "filtered"
  /** The turn had as many calls as it may. */
  | "capped";

/** What a model wants next. What it wrote is shown only where it is an answer. */
export type LaneStep =
  /** The message asks for these actions, in this order. */
  | { readonly kind: "split"; readonly actions: readonly string[] }
  | { readonly kind: "calls"; readonly text: string; readonly proposals: readonly ProposedCall[] }
  /** What the model is shown from now on, a summary in the place of older messages; null where it gave none. */
  | { readonly kind: "condensed"; readonly shown: readonly Message[] | null }
  /** How the action under way ended; another one follows. */
  | { readonly kind: "report"; readonly text: string }
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "stuck"; readonly why: StuckReason };

/** Told what goes on while a step is made. */
export interface LaneListener {
  /** A piece of the answer, for the person to read as it comes. */
  streamed(delta: string): void;
  /** What streamed so far turned out to be no answer. */
  discarded(): void;
  counted(promptTokens: number, completionTokens: number, exact: boolean): void;
  /** What has to stay takes more than there is room for, both in tokens. */
  filled(used: number, limit: number): void;
  /** Earlier turns were left out to make the rest fit, or results were cut. */
  trimmed(droppedTurns: number): void;
  /** What the model wrote is taken as it is, and is not all. */
  cut(why: CutReason): void;
}

export interface LaneInput {
  /** All that was said and done. */
  readonly messages: readonly Message[];
  /** The same as far as the model is shown it: a summary may stand for its beginning. */
  readonly shown: readonly Message[];
  /** Whether it is worth asking for a summary: not in a turn in which none came. */
  readonly maySummarise: boolean;
  readonly turnId: string;
  readonly tools: readonly ToolDescriptor[];
  readonly model: ModelInfo;
  /** What the message was split into; null as long as nobody has asked. */
  readonly actions: readonly string[] | null;
  /** Whether the turn may still have calls. */
  readonly mayCall: boolean;
  /** The day where the person is, `2026-11-21`. */
  readonly today: string;
  /** What a file says is quoted, since the model speaks no language well but English. */
  readonly quotes?: boolean;
  readonly chat: Chat;
  readonly signal: AbortSignal;
  readonly listener: LaneListener;
}

/** One way of getting the next step out of a model. Depends on the messages alone, so a reloaded page can go on with it. */
export type Lane = (input: LaneInput) => Promise<LaneStep>;

/**
 * A proposal with the arguments filled that the model left empty and the person's words answer, and its paths spelled as the
 * conversation knows them, before anybody sees it.
 */
export function complete(proposal: ProposedCall, message: string, { messages, tools, today }: LaneInput): ProposedCall {
  const tool = tools.find(({ name }) => name === proposal.name);
  if (tool === undefined) return proposal;
  const focus = messages.reduce(
    (now, each) => (each.role === "tool" ? updateFocus(each.call, each.result, now) : now),
    NOTHING,
  );
  const filled = enrich(proposal.arguments, tool.paramSchema, message, focus, today);
  const whole = tool.category === "write" ? withGivenText(filled, tool.paramSchema, message) : filled;
  return { ...proposal, arguments: spelledAsKnown(whole, messages, tools) };
}

/** A whole reply, put together from its pieces. */
export interface ModelReply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  /** Why it is not all that the model would have written. */
  readonly cut: CutReason | null;
}

/**
 * Read a reply as far as `end` says, without the thinking at its beginning. `hear` gets the text so far after each piece, and may say that
 * this is enough.
 * However it ends, what was counted is counted.
 */
export async function collect(
  chat: Chat,
  request: ChatRequest,
  listener: LaneListener,
  end: ReplyEnd,
  hear?: (text: string) => unknown,
): Promise<ModelReply> {
  const reader = new ReplyReader(end);
  try {
    for await (const _piece of readDeltas(chat(request), reader)) if (hear?.(reader.said) === true) break;
  } finally {
    if (reader.usage !== null) listener.counted(reader.usage.promptTokens, reader.usage.completionTokens, true);
  }
  if (reader.usage === null) listener.counted(estimatePrompt(request), estimateTokens(reader.written), false);
  return { text: reader.said, calls: reader.calls, cut: reader.cut };
}

function estimatePrompt(request: ChatRequest): number {
  const tools = request.tools === undefined ? "" : JSON.stringify(request.tools);
  return request.messages.reduce((sum, message) => sum + estimateTokens(message.content) + 4, estimateTokens(tools));
}
