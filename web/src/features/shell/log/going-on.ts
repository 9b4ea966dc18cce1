import type { Entry } from "../../../agent/conversation.ts";
import { copy } from "../../../agent/copy.ts";
import { t } from "../../../language/t.ts";

const [BEFORE = "", AFTER = ""] = copy.notDone.split("{rest}");

/**
 * What to send so that the work of the last answer goes on, where it ended before it was done: after as many steps as a turn may
 * have, what it named as not done or the rest of it; after as much as a model may write, the rest of that. Null for any other answer.
 */
export function goingOn(entries: readonly Entry[]): string | null {
  const last = entries.at(-1);
  if (last?.kind !== "assistant" || last.imported) return null;
  const before = entries.at(-2);
  if (before?.kind === "notice" && before.text === copy.cutShort)
    return t`Please go on exactly where your answer was cut off.`;
  if (!last.text.startsWith(copy.capped)) return null;
  const rest = last.text.slice(copy.capped.length).trim();
  if (!rest.startsWith(BEFORE) || !rest.endsWith(AFTER)) return t`Please go on with the rest.`;
  return rest.slice(BEFORE.length, -AFTER.length).replaceAll("`, `", ", then ").replaceAll("`", "");
}
