import { ATTACHER } from "../../../agent/attached.ts";
import { isObject } from "../../../agent/parse.ts";
import type { TracedConversation, TracedMessage } from "./read-export.ts";
import { momentOf } from "./traced.ts";

const SHOWN = 2_000;

/** A conversation that this program exported. A call in it was made under another record, if at all: it is told as words. */
export function readCountersign(value: Readonly<Record<string, unknown>>): TracedConversation | null {
  if (value.format !== "countersign.conversation.v1") return null;
  const { conversation, messages, calls } = value;
  if (!Array.isArray(messages)) return { title: "", said: [], leftOut: 0 };
  const results = resultsOf(messages, calls);
  const said = messages.flatMap((message): TracedMessage[] => {
    if (!isObject(message) || (message.role !== "user" && message.role !== "assistant")) return [];
    const made: readonly unknown[] = Array.isArray(message.toolCalls) ? message.toolCalls : [];
    const text = [
      typeof message.content === "string" ? message.content : "",
      ...made.map((call) => (isObject(call) ? describeCall(call, results) : "")),
    ]
      .filter((part) => part.trim() !== "")
      .join("\n\n");
    return text === "" ? [] : [{ role: message.role, text, at: momentOf(message.at) }];
  });
  const head = isObject(conversation) ? conversation : {};
  return { title: head.title, label: head.label, said, leftOut: 0 };
}

/** What came of each call. A branch has on record only its own calls: of those before it, the messages alone tell. */
function resultsOf(
  messages: readonly unknown[],
  calls: unknown,
): ReadonlyMap<unknown, Readonly<Record<string, unknown>>> {
  const views: readonly unknown[] = Array.isArray(calls) ? calls : [];
  return new Map([
    ...messages.flatMap((message) =>
      isObject(message) && message.role === "tool" ? [[message.toolCallId, message] as const] : [],
    ),
    ...views.flatMap((view) =>
      isObject(view) && isObject(view.call) && isObject(view.result) ? [[view.call.id, view.result] as const] : [],
    ),
  ]);
}

function describeCall(
  { id, name, arguments: given }: Readonly<Record<string, unknown>>,
  results: ReadonlyMap<unknown, Readonly<Record<string, unknown>>>,
): string {
  const result = results.get(id);
  const outcome = typeof result?.outcome === "string" ? `outcome ${result.outcome}` : "its result follows";
  const ended = result === undefined ? "no result" : outcome;
  const told = name === ATTACHER && isObject(given) ? { ...given, data: undefined } : given;
  const lines = [`Call of ${String(name)} (imported, not in this record): ${ended}`, shortJson(told)];
  if (typeof result?.content === "string" && result.content !== "") lines.push(result.content.slice(0, SHOWN));
  // As code, so that nothing in it is read as markup.
  return lines
    .join("\n")
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}

function shortJson(value: unknown): string {
  try {
    return JSON.stringify(value).slice(0, SHOWN);
  } catch {
    // Nested deeper than can be written down.
    return "{…}";
  }
}
