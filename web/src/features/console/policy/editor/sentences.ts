import type { PolicyRehearsal } from "../../../../protocol/generated.ts";

const CHANGES: Readonly<Record<string, string>> = {
  newlyAllowed: "newly allowed",
  questionRemoved: "no longer asked about",
  passkeyRemoved: "a click instead of a passkey",
  approversRemoved: "fewer or other people to approve",
  questionAdded: "newly asked about",
  passkeyAdded: "newly needing a passkey",
  approversAdded: "more people to approve",
  newlyRefused: "newly refused",
};

/** What becomes of calls, for a count before it. */
export function nameChange(change: string): string {
  return CHANGES[change] ?? change;
}

/** A rehearsal in one sentence. */
export function summariseRehearsal(rehearsal: PolicyRehearsal, days: number): string {
  const span = days === 1 ? "Over the last day" : `Over the last ${days} days`;
  if (rehearsal.judged === 0) return `${span} there is no call on record that it can be put to.`;
  const count = (change: string) => rehearsal.changes.find((each) => each.change === change)?.count ?? 0;
  const parts = [
    said(count("questionRemoved"), "removes", "question"),
    said(count("questionAdded"), "adds", "question"),
    said(count("passkeyRemoved"), "removes", "passkey"),
    said(count("passkeyAdded"), "adds", "passkey"),
    said(count("approversRemoved"), "takes approvers from", "call"),
    said(count("approversAdded"), "adds approvers to", "call"),
    said(count("newlyAllowed"), "newly allows", "call"),
    said(count("newlyRefused"), "newly refuses", "call"),
  ].filter((part) => part !== undefined);
  return `${span} this ${parts.length === 0 ? "decides every call as it was decided" : listed(parts)}.`;
}

function said(count: number, verb: string, noun: string): string | undefined {
  if (count === 0) return undefined;
  const plural = count === 1 ? noun : `${noun}s`;
  return `${verb} ${count.toLocaleString("en")} ${plural}`;
}

function listed(parts: readonly string[]): string {
  return parts.length === 1 ? `${parts[0]}` : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
