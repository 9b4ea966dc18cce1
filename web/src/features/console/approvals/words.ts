import type { Approval, ApprovalStatus } from "../../../protocol/generated.ts";
import type { Tone } from "../../../ui/Tag.tsx";

/** What a status means for the call behind it. */
export const STATUS_WORDS: Readonly<Record<ApprovalStatus, string>> = {
  pending: "waits for you",
  approved: "approved",
  denied: "denied, not run",
  expired: "expired, not run",
  cancelled: "cancelled, not run",
};

export const STATUS_TONES: Readonly<Record<ApprovalStatus, Tone>> = {
  pending: "waiting",
  approved: "ok",
  denied: "danger",
  expired: "plain",
  cancelled: "plain",
};

/** Whether a yes needs the passkey: over a destructive call always, over another where the policy asks for a touch. */
export function needsPasskey({ kind, needs }: Approval): boolean {
  return kind === "stepUp" || needs.presence;
}
