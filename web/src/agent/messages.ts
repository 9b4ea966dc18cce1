import type { CallView, StoredMessage, ToolCall, ToolResult } from "../protocol/generated.ts";
import { copy } from "./copy.ts";

/** How a call closed, as far as the conversation needs to know. */
export type Observation = Pick<
  ToolResult,
  "outcome" | "reason" | "content" | "error" | "trust" | "own" | "truncated" | "attachments"
> &
  Partial<Pick<ToolResult, "durationMs">>;

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

/** A message as it is shown. What was imported was said elsewhere, if at all. */
export type ShownMessage = Message & { readonly imported?: true };

/** A stored conversation as a person is shown it: results joined with their calls, calls without a result left out. */
export function join(stored: readonly StoredMessage[], calls: readonly CallView[]): ShownMessage[] {
  const proposed = new Map<string, ToolCall>();
  const recorded = new Map(calls.map((view) => [view.call.id, view]));
  const messages: ShownMessage[] = [];
  for (const { role, turnId, content, toolCalls = [], toolCallId, provenance, own } of stored) {
    const source = provenance === "imported" && { imported: true as const };
    if (role === "user") messages.push({ role, turnId, content, ...source });
    if (role === "assistant") {
      for (const call of toolCalls) proposed.set(call.id, call);
      messages.push({ role, turnId, content, toolCalls, ...source });
    }
    if (role === "tool" && toolCallId !== undefined) {
      const view = recorded.get(toolCallId);
      const call = view?.call ?? proposed.get(toolCallId);
      if (call === undefined) continue;
      // A branch keeps the words of a result but not its record.
      const words: Observation = { outcome: "ok", content, trust: "untrusted", truncated: false, ...(own && { own }) };
      messages.push({ role, turnId, call, result: view?.result ?? words });
    }
  }
  return messages;
}

/** The call whose result stands for what was imported. It is on no record, and no tool has its name. */
const IMPORTED = "imported_conversation";

/**
 * The same as the loop sees it. What was imported is no word of this person or of this model, whatever it says: it is told as the
 * result of a call, a turn of it at a time, and so is as untrusted as anything that a tool brings in.
 */
export function recall(stored: readonly StoredMessage[], calls: readonly CallView[]): Message[] {
  const messages: Message[] = [];
  for (const { imported, ...message } of join(stored, calls)) {
    if (imported && message.role !== "tool") takeImported(messages, message);
    else messages.push(message);
  }
  return messages;
}

function takeImported(messages: Message[], { turnId, role, content: said }: UserMessage | AssistantMessage): void {
  const line = `${role}: ${said}`;
  const call: ToolCall = { id: `imp_${turnId}`, name: IMPORTED, arguments: {} };
  const last = messages.at(-1);
  if (last?.role === "tool" && last.call.id === call.id) {
    const content = `${last.result.content}\n\n${line}`;
    messages[messages.length - 1] = { ...last, result: { ...last.result, content } };
    return;
  }
  const result: Observation = { outcome: "ok", content: line, trust: "untrusted", truncated: false };
  messages.push(
    { role: "user", turnId, content: copy.importedTurn },
    { role: "assistant", turnId, content: "", toolCalls: [call] },
    { role: "tool", turnId, call, result },
  );
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
