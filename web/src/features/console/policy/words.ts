import { t } from "../../../language/t.ts";
import type { Category, CircumstanceChange, PermissionMode, PolicyCell, Profile } from "../../../protocol/generated.ts";
import type { Tone } from "../../../ui/Tag.tsx";

export const PEOPLE: Readonly<Record<Profile, string>> = {
  operator: t`Operators`,
  guest: t`Guests`,
  anonymous: t`Visitors`,
  auditor: t`Auditors`,
};

/** What happens before a call of that mode runs. */
export const MODE_WORDS: Readonly<Record<PermissionMode, string>> = {
  auto: t`Runs by itself`,
  consent: t`Asks first`,
  stepUp: t`Needs a passkey`,
  forbidden: t`Never runs`,
};

export const MODE_TONES: Readonly<Record<PermissionMode, Tone>> = {
  auto: "ok",
  consent: "waiting",
  stepUp: "info",
  forbidden: "danger",
};

const KINDS: Readonly<Record<Category, string>> = {
  read: t`Read`,
  write: t`Write files`,
  destructive: t`Delete or overwrite`,
  network: t`Reach the network`,
  execute: t`Run programs`,
  admin: t`Administer the gateway`,
};

/** The kind of action of a cell. The host stands apart: it comes from the policy's text. */
export function nameKind({ category, host }: Pick<PolicyCell, "category" | "host">): string {
  return host === undefined ? KINDS[category] : t`Reach the host`;
}

/** When the verdict would be another one. */
export function nameCircumstance({
  taint,
  label,
  argumentsFromUntrusted,
}: Pick<CircumstanceChange, "taint" | "label" | "argumentsFromUntrusted">): string {
  if (argumentsFromUntrusted) return t`With arguments that were taken from untrusted content`;
  if (taint === 1) return t`After the conversation has read untrusted content`;
  if (taint === 0) return t`Before the conversation has read untrusted content`;
  return t`In a conversation with the label ${label ?? ""}`;
}
