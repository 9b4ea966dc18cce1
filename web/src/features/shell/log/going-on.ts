import type { Entry } from "../../../agent/conversation.ts";
import { copy } from "../../../agent/copy.ts";
import { t } from "../../../language/t.ts";

const [BEFORE = "", AFTER = ""] = copy.notDone.split("{rest}");

/**
 * What to send so that the work of the last answer goes on, where it ended before it was done: after as many steps as a turn may
 * have, or a stop, what was named as not done or the rest of it; after as much as a model may write, or a stop in the middle of a
 * text, the rest of that. Null for any other answer.
 */
export function goingOn(entries: readonly Entry[]): string | null {
  const last = entries.at(-1);
  const before = entries.at(-2);
  if (last?.kind === "notice") return last.text.startsWith(copy.stopped) ? restNamedIn(last.text, copy.stopped) : null;
  if (last?.kind !== "assistant" || last.imported) return null;
  if (last.stopped || (before?.kind === "notice" && before.text === copy.cutShort))
    return t`Continue your answer where it stopped.`;
  return last.text.startsWith(copy.capped)
    ? (restNamedIn(last.text, copy.capped) ?? t`Please go on with the rest.`)
    : null;
}

/** What a text names as not done, behind the words that it begins with, as a message that asks for it. */
function restNamedIn(text: string, beginning: string): string | null {
  const rest = text.slice(beginning.length).trim();
  if (!rest.startsWith(BEFORE) || !rest.endsWith(AFTER)) return null;
  return rest.slice(BEFORE.length, -AFTER.length).replaceAll("`, `", ", then ").replaceAll("`", "");
}
