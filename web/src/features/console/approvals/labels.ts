import { t } from "../../../language/t.ts";
import type { Approval, ApprovalStatus } from "../../../protocol/generated.ts";
import type { Tone } from "../../../ui/Tag.tsx";

/** What a status means for the call that it is about. */
export const STATUS_LABELS: Readonly<Record<ApprovalStatus, string>> = {
  pending: t`waits for you`,
  approved: t`approved`,
  denied: t`denied, not run`,
  expired: t`expired, not run`,
  cancelled: t`cancelled, not run`,
};

export const STATUS_TONES: Readonly<Record<ApprovalStatus, Tone>> = {
  pending: "waiting",
  approved: "ok",
  denied: "danger",
  expired: "plain",
  cancelled: "plain",
};

/** How many of the people whom it takes have approved: "1 of 2 people have approved". */
export function describeGiven({ needs, given }: Approval): string {
  const count = given?.length ?? 0;
  if (needs.approvers === 1) return count === 0 ? t`somebody else has to approve` : t`approved`;
  return t`${count} of ${needs.approvers} people {0:has|have} approved`;
}

/** Whether others than the requester take part in the decision. */
export function isShared({ given }: Approval): boolean {
  return given !== undefined;
}

/** Whether an approval needs the passkey: of a destructive call always, of another where the policy asks for presence. */
export function needsPasskey({ kind, needs }: Approval): boolean {
  return kind === "stepUp" || needs.presence;
}
