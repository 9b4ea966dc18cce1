import type { ChatMessage } from "./chat.ts";
import { isRefusal } from "./compaction.ts";
import type { AssistantMessage, Message, UserMessage } from "./messages.ts";
import { neutralise } from "./provenance.ts";

/*
 * A conversation as the model that picks an action sees it: in the shape of the examples, what was asked and the action that
 * was chosen. Measured so: with results or reports in between, a small model goes on reporting.
 */

export type Spoken = UserMessage | AssistantMessage;

/** Turns that are over. Refusals are among them, not to be shown, but so that no summary takes their place. */
export function pastOf(messages: readonly Message[], turnId: string): Message[] {
  const past = messages.filter((each) => each.turnId !== turnId);
  const acted = new Set(past.flatMap((each) => (each.role === "tool" ? [each.turnId] : [])));
  return past.filter((each) => {
    if (each.role === "tool") return isRefusal(each);
    return each.role === "user" || each.toolCalls.length > 0 || !acted.has(each.turnId);
  });
}

/**
 * The turn under way: each action that was asked for, with what was chosen for it, and last the one to choose for now. There is
 * one: whoever asks has made sure that not all of them are over.
 */
export function presentOf(messages: readonly Message[], turnId: string, actions: readonly string[]): Spoken[] {
  let next = 0;
  const ask = (): Spoken => ({ role: "user", turnId, content: actions[next++] as string });
  const spoken: Spoken[] = [ask()];
  for (const each of messages) {
    if (each.turnId !== turnId || each.role !== "assistant") continue;
    const isReport = each.toolCalls.length === 0 && spoken.at(-1)?.role === "assistant";
    if (!isReport) spoken.push(each);
    if (each.toolCalls.length === 0) spoken.push(ask());
  }
  return spoken;
}

/** A message as the examples write it. */
export function asChat(message: Spoken): ChatMessage {
  if (message.role === "user") return { role: "user", content: neutralise(message.content) };
  const call = message.toolCalls.at(-1);
  const action = call ? { tool: call.name, arguments: call.arguments } : { answer: message.content };
  return { role: "assistant", content: neutralise(JSON.stringify(action)) };
}
