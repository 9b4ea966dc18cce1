import type { ModelInfo, ToolDescriptor } from "../protocol/generated.ts";
import { estimateTokens } from "./budget.ts";
import type { Chat, ChatMessage, ChatRequest } from "./chat.ts";
import type { Message } from "./messages.ts";

/** A call as the model proposed it; it gets its id from the loop. */
export interface Proposal {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

/** What a model wants next. */
export type Step =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "calls"; readonly text: string; readonly proposals: readonly Proposal[] }
  /** Neither, after every repair: what the model wrote is not shown. */
  | { readonly kind: "nothing" };

/** Told what goes on while a step is made. */
export interface LaneListener {
  /** A piece of the answer, for the person to read as it comes. */
  streamed(delta: string): void;
  /** What streamed so far turned out to be no answer. */
  discarded(): void;
  counted(promptTokens: number, completionTokens: number, exact: boolean): void;
  /** Earlier turns were left out to make the rest fit, or results were cut. */
  trimmed(droppedTurns: number): void;
}

export interface LaneInput {
  readonly messages: readonly Message[];
  readonly turnId: string;
  readonly tools: readonly ToolDescriptor[];
  readonly model: ModelInfo;
  readonly chat: Chat;
  readonly signal: AbortSignal;
  readonly listener: LaneListener;
}

/** One way of getting the next step out of a model. Depends on the messages alone, so a reloaded page can go on with it. */
export type Lane = (input: LaneInput) => Promise<Step>;

/** requirement 001-05: how often a model is told that its reply was no valid action before the loop gives up on it. */
export const MAX_REPAIRS = 2;

/** requirement 001-11, word for word. */
export function repairTurn(reason: string): ChatMessage {
  return {
    role: "user",
    content: `Your last reply was not a valid action: ${reason}. Reply with ONLY one JSON action, no prose.`,
  };
}

/** A whole reply, put together from its pieces. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

/**
 * Read a reply to its end. `hear` gets the text so far after each piece and may return true to stop: then the model is
 * aborted and what was read is the reply.
 */
export async function collect(
  chat: Chat,
  request: ChatRequest,
  listener: LaneListener,
  hear: (text: string) => boolean,
): Promise<Reply> {
  let text = "";
  let exact = false;
  const calls: { name: string; arguments: string }[] = [];
  for await (const delta of chat(request)) {
    if (delta.kind === "usage") {
      exact = true;
      listener.counted(delta.promptTokens, delta.completionTokens, true);
    } else if (delta.kind === "call") {
      calls[delta.index] ??= { name: "", arguments: "" };
      const call = calls[delta.index] ?? { name: "", arguments: "" };
      call.name += delta.name ?? "";
      call.arguments += delta.arguments ?? "";
    } else {
      text += delta.text;
      if (hear(text)) break;
    }
  }
  if (!exact) listener.counted(estimatePrompt(request), estimateTokens(text), false);
  return { text, calls: calls.filter(Boolean) };
}

function estimatePrompt(request: ChatRequest): number {
  const tools = request.tools === undefined ? "" : JSON.stringify(request.tools);
  return request.messages.reduce((sum, message) => sum + estimateTokens(message.content) + 4, estimateTokens(tools));
}
