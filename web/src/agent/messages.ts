import type { CallView, StoredMessage, ToolCall, ToolResult } from "../protocol/generated.ts";
import { copy } from "./copy.ts";

/** How a call closed, as far as the conversation needs to know. */
export type Observation = Pick<
  ToolResult,
  "outcome" | "reason" | "content" | "error" | "trust" | "truncated" | "attachments"
>;

/** Of a call that the gateway has cancelled together with its turn, or never heard of. */
export const CANCELLED: Observation = { outcome: "cancelled", content: "", trust: "trusted", truncated: false };

/** Of a call that was sent, and whose answer the loop did not wait for. */
export const UNHEARD: Observation = { ...CANCELLED, error: copy.unheard };

export interface UserMessage {
  readonly role: "user";
  readonly turnId: string;
  readonly content: string;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly turnId: string;
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
}

export interface ToolMessage {
  readonly role: "tool";
  readonly turnId: string;
  readonly call: ToolCall;
  readonly result: Observation;
}

/** What was said and done, in order. A tool message always follows the assistant message that proposed its call. */
export type Message = UserMessage | AssistantMessage | ToolMessage;

/** A stored conversation as the loop sees it: results joined with their calls, calls without a result left out. */
export function recall(stored: readonly StoredMessage[], calls: readonly CallView[]): Message[] {
  const proposed = new Map<string, ToolCall>();
  const recorded = new Map(calls.map((view) => [view.call.id, view]));
  const messages: Message[] = [];
  for (const { role, turnId, content, toolCalls = [], toolCallId } of stored) {
    if (role === "user") messages.push({ role, turnId, content });
    if (role === "assistant") {
      for (const call of toolCalls) proposed.set(call.id, call);
      messages.push({ role, turnId, content, toolCalls });
    }
    if (role === "tool" && toolCallId !== undefined) {
      const view = recorded.get(toolCallId);
      const call = view?.call ?? proposed.get(toolCallId);
      if (call === undefined) continue;
      // A branch keeps the words of a result but not its record.
      const result: Observation = view?.result ?? { outcome: "ok", content, trust: "untrusted", truncated: false };
      messages.push({ role, turnId, call, result });
    }
  }
  return messages;
}

/** The calls that were proposed in a turn and have no result yet, in the order of proposal. */
export function unanswered(messages: readonly Message[], turnId: string): ToolCall[] {
  const answered = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.call.id] : [])));
  return messages
    .flatMap((message) => (message.role === "assistant" && message.turnId === turnId ? message.toolCalls : []))
    .filter((call) => !answered.has(call.id));
}

/** How often the model has proposed calls in a turn. */
export function countRounds(messages: readonly Message[], turnId: string): number {
  return messages.filter(
    (message) => message.role === "assistant" && message.turnId === turnId && message.toolCalls.length > 0,
  ).length;
}
