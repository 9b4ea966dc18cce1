import { t } from "../../../../language/t.ts";
import type { PolicyRehearsal } from "../../../../protocol/generated.ts";

const CHANGES: Readonly<Record<string, string>> = {
  newlyAllowed: t`newly allowed`,
  questionRemoved: t`no longer asked about`,
  passkeyRemoved: t`a click instead of a passkey`,
  approversRemoved: t`fewer or other people to approve`,
  questionAdded: t`newly asked about`,
  passkeyAdded: t`newly needing a passkey`,
  approversAdded: t`more people to approve`,
  newlyRefused: t`newly refused`,
};

/** What becomes of calls, for a count before it. */
export function nameChange(change: string): string {
  return CHANGES[change] ?? change;
}

/** A rehearsal in one sentence. */
export function summariseRehearsal(rehearsal: PolicyRehearsal, days: number): string {
  if (rehearsal.judged === 0)
    return days === 1
      ? t`Over the last day there is no call on record that it can be put to.`
      : t`Over the last ${days} days there is no call on record that it can be put to.`;
  const count = (change: string) => rehearsal.changes.find((each) => each.change === change)?.count ?? 0;
  const parts = [
    said(count("questionRemoved"), (found) => t`removes ${found} {question|questions}`),
    said(count("questionAdded"), (found) => t`adds ${found} {question|questions}`),
    said(count("passkeyRemoved"), (found) => t`removes ${found} {passkey|passkeys}`),
    said(count("passkeyAdded"), (found) => t`adds ${found} {passkey|passkeys}`),
    said(count("approversRemoved"), (found) => t`takes approvers from ${found} {call|calls}`),
    said(count("approversAdded"), (found) => t`adds approvers to ${found} {call|calls}`),
    said(count("newlyAllowed"), (found) => t`newly allows ${found} {call|calls}`),
    said(count("newlyRefused"), (found) => t`newly refuses ${found} {call|calls}`),
  ].filter((part) => part !== undefined);
  const all = parts.length === 0 ? t`decides every call as it was decided` : listed(parts);
  return days === 1 ? t`Over the last day this ${all}.` : t`Over the last ${days} days this ${all}.`;
}

function said(count: number, inWords: (count: number) => string): string | undefined {
  return count === 0 ? undefined : inWords(count);
}

function listed(parts: readonly string[]): string {
  return parts.length === 1 ? `${parts[0]}` : t`${parts.slice(0, -1).join(", ")} and ${parts.at(-1) ?? ""}`;
}
