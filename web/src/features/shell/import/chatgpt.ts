import { isObject } from "../../../agent/parse.ts";
import type { TracedConversation, TracedMessage } from "./read-export.ts";
import { momentOf, ownMember, pathTo } from "./traced.ts";

/** A conversation of `conversations.json`: a tree of messages, of which the branch is read that was shown last. */
export function readChatGpt(value: Readonly<Record<string, unknown>>): TracedConversation | null {
  const { mapping } = value;
  if (!isObject(mapping)) return null;
  const find = (id: string) => {
    const node = ownMember(mapping, id);
    return isObject(node) ? node : null;
  };
  const last = typeof value.current_node === "string" ? value.current_node : (Object.keys(mapping).at(-1) ?? "");
  const said: TracedMessage[] = [];
  let leftOut = 0;
  for (const { message } of pathTo(last, find, ({ parent }) => parent)) {
    if (!isObject(message) || isHidden(message)) continue;
    const role = isObject(message.author) ? message.author.role : undefined;
    if (role === "system") continue;
    const { text, others } = wordsOf(message.content);
    leftOut += others;
    if (role !== "user" && role !== "assistant") leftOut++;
    else if (text.trim() !== "") said.push({ role, text, at: momentOf(message.create_time) });
  }
  return { title: value.title, said, leftOut };
}

function isHidden({ metadata }: Readonly<Record<string, unknown>>): boolean {
  return isObject(metadata) && metadata.is_visually_hidden_from_conversation === true;
}

/** The words of a message, and how many other parts it has. Programs that a model wrote for its own tools are no words of it. */
function wordsOf(content: unknown): { readonly text: string; readonly others: number } {
  if (!isObject(content) || !Array.isArray(content.parts)) return { text: "", others: isObject(content) ? 1 : 0 };
  const words = content.parts.filter((part): part is string => typeof part === "string");
  return { text: words.join("\n\n"), others: content.parts.length - words.length };
}
