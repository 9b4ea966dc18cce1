import { t } from "../../language/t.ts";
import { shownTitle } from "../../ui/conversation-title.ts";
import { month } from "../../ui/moments.ts";
import type { ConversationRow } from "./workspace-state.ts";

/** Conversations that stand under one heading. */
export interface ConversationGroup {
  readonly label: string;
  readonly rows: readonly ConversationRow[];
}

const DAY_MS = 86_400_000;

/** Pinned ones first, then by the day of their last use, in the order in which they come. `now` is in epoch milliseconds. */
export function groupConversations(
  rows: readonly ConversationRow[],
  pinned: ReadonlySet<string>,
  now: number,
): readonly ConversationGroup[] {
  const groups = new Map<string, ConversationRow[]>([[t`Pinned`, []]]);
  for (const row of rows) {
    const { id, updatedAt } = row.conversation;
    const label = pinned.has(id) ? t`Pinned` : dayOf(Date.parse(updatedAt), now);
    groups.set(label, [...(groups.get(label) ?? []), row]);
  }
  return [...groups].flatMap(([label, members]) => (members.length === 0 ? [] : [{ label, rows: members }]));
}

/** Those whose title has every word that is looked for, whatever their case. */
export function searchConversations(rows: readonly ConversationRow[], sought: string): readonly ConversationRow[] {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(({ conversation: { title } }) =>
    words.every((word) => shownTitle(title).toLowerCase().includes(word)),
  );
}

/** A day in words, by the calendar of where the person is. */
function dayOf(moment: number, now: number): string {
  const today = new Date(now).setHours(0, 0, 0, 0);
  if (moment >= today) return t`Today`;
  // A day has 23 hours when the clocks change.
  if (moment >= new Date(today - DAY_MS / 2).setHours(0, 0, 0, 0)) return t`Yesterday`;
  if (moment >= today - 6 * DAY_MS) return t`The last seven days`;
  return month.format(moment);
}
