import { isObject } from "../../../agent/parse.ts";
import type { TracedConversation, TracedMessage } from "./read-export.ts";
import { momentOf } from "./traced.ts";

/** A conversation of Claude's `conversations.json`. */
export function readClaude(value: Readonly<Record<string, unknown>>): TracedConversation | null {
  const { chat_messages: messages } = value;
  if (!Array.isArray(messages)) return null;
  const said: TracedMessage[] = [];
  let leftOut = 0;
  for (const message of messages) {
    if (!isObject(message)) continue;
    const parts: readonly unknown[] = Array.isArray(message.content) ? message.content : [];
    const words = parts.flatMap((part) =>
      isObject(part) && part.type === "text" && typeof part.text === "string" ? [part.text] : [],
    );
    leftOut += parts.length - words.length + countOf(message.attachments) + countOf(message.files);
    const text = words.length > 0 ? words.join("\n\n") : message.text;
    const role = ROLES.get(message.sender);
    if (role !== undefined && typeof text === "string" && text.trim() !== "")
      said.push({ role, text, at: momentOf(message.created_at) });
  }
  return { title: value.name, said, leftOut };
}

const ROLES = new Map<unknown, TracedMessage["role"]>([
  ["human", "user"],
  ["assistant", "assistant"],
]);

function countOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
