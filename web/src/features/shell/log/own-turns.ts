import { ATTACHER } from "../../../agent/attached.ts";
import type { Conversation, Entry } from "../../../agent/conversation.ts";
import { readCommand } from "../../../agent/slash.ts";
import { t } from "../../../language/t.ts";
import type { ToolCall } from "../../../protocol/generated.ts";

/** What stands in the record as the person's words, where a page made a call for them. The record is in English. */
export const attachedWords = (file: unknown) => `Attached ${String(file)}`;
export const changedWords = (tool: string) => `I changed what ${tool} is called with.`;

const HAD_ASKED = " I had asked: ";
/** Of a longer request the beginning is quoted: it is there to say what the call is for. */
const MOST_QUOTED = 2_000;

/** The same with what the person had asked for when the call was proposed: whoever decides about it reads no other turn. */
export function changedFor(tool: string, asked: string | undefined): string {
  const own = asked?.startsWith("I changed what ") ? asked.split(HAD_ASKED).slice(1).join(HAD_ASKED) : (asked ?? "");
  if (own === "" || readCommand(own).kind !== "message") return changedWords(tool);
  return changedWords(tool) + HAD_ASKED + own.slice(0, MOST_QUOTED);
}

function isChanged(text: string, tool: string): boolean {
  const words = changedWords(tool);
  return text === words || text.startsWith(words + HAD_ASKED);
}

/** The call of a turn that a person made, so that no model was asked anything; undefined for any other turn. `index` is its question's. */
export function ownCallAt(
  { entries, calls }: Pick<Conversation, "entries" | "calls">,
  index: number,
): ToolCall | undefined {
  const [entry, next] = [entries[index], entries[index + 1]];
  if (entry?.kind !== "user" || next?.kind !== "call") return undefined;
  const call = calls[next.callId]?.call;
  if (call === undefined) return undefined;
  const isOwn = call.name === ATTACHER || isChanged(entry.text, call.name) || readCommand(entry.text).kind === "call";
  return isOwn ? call : undefined;
}

/** What a person said, in the page's language where the page said it for them. */
export function shownQuestion(entry: Extract<Entry, { readonly kind: "user" }>, own: ToolCall | undefined): string {
  if (own === undefined) return entry.text;
  const { name } = own.arguments;
  if (isChanged(entry.text, own.name)) return t`I changed what ${own.name} is called with.`;
  return typeof name === "string" && entry.text === attachedWords(name) ? t`Attached ${name}` : entry.text;
}
