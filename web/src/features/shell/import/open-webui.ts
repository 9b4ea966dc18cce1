import { isObject } from "../../../agent/parse.ts";
import type { TracedConversation, TracedMessage } from "./read-export.ts";
import { momentOf, ownMember, pathTo } from "./traced.ts";

/** A chat of Open WebUI: a tree of messages, or a list of them in older exports. */
export function readOpenWebUi(value: Readonly<Record<string, unknown>>): TracedConversation | null {
  const chat = isObject(value.chat) ? value.chat : value;
  const messages = messagesOf(chat);
  if (messages === null) return null;
  const said: TracedMessage[] = [];
  let leftOut = 0;
  for (const message of messages) {
    if (!isObject(message)) continue;
    const { role, content, files } = message;
    leftOut += Array.isArray(files) ? files.length : 0;
    if (role !== "user" && role !== "assistant") leftOut++;
    else if (typeof content === "string" && content.trim() !== "")
      said.push({ role, text: content, at: momentOf(message.timestamp) });
  }
  return { title: chat.title ?? value.title, said, leftOut };
}

function messagesOf(chat: Readonly<Record<string, unknown>>): readonly unknown[] | null {
  const { history, messages } = chat;
  if (isObject(history) && isObject(history.messages) && typeof history.currentId === "string") {
    const tree = history.messages;
    const find = (id: string) => {
      const node = ownMember(tree, id);
      return isObject(node) ? node : null;
    };
    return pathTo(history.currentId, find, ({ parentId }) => parentId);
  }
  return Array.isArray(messages) ? messages : null;
}
