import type { Category, CircumstanceChange, PermissionMode, PolicyCell, Profile } from "../../../protocol/generated.ts";
import type { Tone } from "../../../ui/Tag.tsx";

export const PEOPLE: Readonly<Record<Profile, string>> = {
  operator: "Operators",
  guest: "Guests",
  anonymous: "Visitors",
  auditor: "Auditors",
};

/** What happens before a call of that mode runs. */
export const MODE_WORDS: Readonly<Record<PermissionMode, string>> = {
  auto: "Runs by itself",
  consent: "Asks first",
  stepUp: "Needs a passkey",
  forbidden: "Never runs",
};

export const MODE_TONES: Readonly<Record<PermissionMode, Tone>> = {
  auto: "ok",
  consent: "waiting",
  stepUp: "info",
  forbidden: "danger",
};

const KINDS: Readonly<Record<Category, string>> = {
  read: "Read",
  write: "Write files",
  destructive: "Delete or overwrite",
  network: "Reach the network",
  execute: "Run programs",
  admin: "Administer the gateway",
};

/** The kind of action of a cell. The host stands apart: it comes from the policy's text. */
export function nameKind({ category, host }: Pick<PolicyCell, "category" | "host">): string {
  return host === undefined ? KINDS[category] : "Reach the host";
}

/** When the verdict would be another one. */
export function nameCircumstance({
  taint,
  label,
  argumentsFromUntrusted,
}: Pick<CircumstanceChange, "taint" | "label" | "argumentsFromUntrusted">): string {
  if (argumentsFromUntrusted) return "With arguments that were taken from untrusted content";
  if (taint === 1) return "After the conversation has read untrusted content";
  if (taint === 0) return "Before the conversation has read untrusted content";
  return `In a conversation with the label ${label}`;
}
