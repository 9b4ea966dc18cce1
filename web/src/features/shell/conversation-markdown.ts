import { withoutBytes } from "../../agent/attached.ts";
import { t } from "../../language/t.ts";
import type { ConversationExport, ToolResult } from "../../protocol/generated.ts";
import { isForeign } from "./foreign.ts";

/** What was said and done in a conversation, for people: calls with arguments and results, each result marked with its source. */
export function writeMarkdown({ conversation, exportedAt, messages, calls }: ConversationExport): string {
  const results = new Map(calls.map(({ call, result }) => [call.id, result]));
  const parts = messages.flatMap((message) => {
    const source = message.provenance === "imported" ? t` (imported, not in this record)` : "";
    if (message.role === "user") return [`## You${source}\n\n${message.content}`];
    if (message.role !== "assistant") return [];
    const said = message.content.trim() === "" ? [] : [`## Assistant${source}\n\n${message.content}`];
    const called = (message.toolCalls ?? []).map((call) =>
      [
        `### Call of \`${call.name}\``,
        fenced(JSON.stringify(withoutBytes(call).arguments, null, 2), "json"),
        describeResult(results.get(call.id)),
      ].join("\n\n"),
    );
    return [...said, ...called];
  });
  const head = `# ${conversation.title}\n\nExported ${exportedAt} from Countersign. Conversation \`${conversation.id}\`.`;
  return `${[head, ...parts].join("\n\n")}\n`;
}

function describeResult(result: ToolResult | undefined): string {
  if (result === undefined) return t`No result is on record.`;
  const { outcome, reason, error, content } = result;
  const why = [reason, error].filter(Boolean).join(": ");
  const words = `Outcome: ${outcome}${why === "" ? "" : ` (${why})`}`;
  const source = isForeign(result) ? t`, from outside and not verified` : "";
  return content === "" ? `${words}.` : `${words}${source}.\n\n${fenced(content, "text")}`;
}

/** A fence longer than any in the text, so that the text cannot end it. */
function fenced(text: string, lang: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${lang}\n${text}\n${fence}`;
}
