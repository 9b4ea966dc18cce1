import type { CallCard } from "../../../agent/conversation.ts";
import { explainOutcome, why } from "../../../agent/copy.ts";
import { catalogue } from "../../../language/language.ts";
import { t } from "../../../language/t.ts";
import type { ApprovalStatus, Outcome, PermissionMode } from "../../../protocol/generated.ts";
import { callSentence } from "../../../ui/call-sentence.ts";
import type { Tone } from "../../../ui/Tag.tsx";

export interface CallState {
  readonly label: string;
  readonly tone: Tone;
}

const EXPIRED: CallState = { label: t`Expired`, tone: "danger" };

/** How it ended is not known here: a copy of a conversation has the words of a result, and not its record. */
const COPIED: CallState = { label: t`Before the copy`, tone: "plain" };

const CLOSED: Readonly<Record<Outcome, CallState>> = {
  ok: { label: t`Done`, tone: "ok" },
  refusedByPolicy: { label: t`Refused`, tone: "danger" },
  deniedByUser: { label: t`Denied`, tone: "danger" },
  stepUpFailed: { label: t`Not confirmed`, tone: "danger" },
  executionError: { label: t`Failed`, tone: "danger" },
  timedOut: { label: t`Timed out`, tone: "danger" },
  cancelled: { label: t`Cancelled`, tone: "plain" },
  invalidArguments: { label: t`Not accepted`, tone: "danger" },
  unknownTool: { label: t`No such tool`, tone: "danger" },
};

/** Of a call that will not run, while its result is still to come. */
const DECIDED: Partial<Readonly<Record<ApprovalStatus, CallState>>> = {
  denied: CLOSED.deniedByUser,
  expired: EXPIRED,
  cancelled: CLOSED.cancelled,
};

/** Whether a call that was sent can still begin, or has begun. */
export function isUnderWay({ phase, result, decided }: CallCard): boolean {
  return result === undefined && phase === "running" && (decided === undefined || DECIDED[decided] === undefined);
}

/** The state of a call as a label. `held`: it stands behind one that waits for a person. */
export function stateOf({ phase, result, decided, copied }: CallCard, held = false): CallState {
  if (copied) return COPIED;
  if (result?.reason === "outcomeUnknown") return { label: t`Outcome unknown`, tone: "waiting" };
  if (result?.reason === "approvalExpired") return EXPIRED;
  if (result !== undefined) return CLOSED[result.outcome];
  const refused = decided === undefined ? undefined : DECIDED[decided];
  if (refused !== undefined) return refused;
  switch (phase) {
    case "waiting":
      return { label: t`Waiting for approval`, tone: "waiting" };
    case "running":
      return held ? { label: t`Waits its turn`, tone: "plain" } : { label: t`Running`, tone: "info" };
    default:
      return { label: t`Next`, tone: "plain" };
  }
}

/**
 * Why a call gave nothing, as a sentence; null when it gave something, and when the person turned it down or let it expire: its
 * state says so, and the answer what follows from it. What no catalogue has is the loop's, in English.
 */
export function explainFailedCall({ call, result }: CallCard): { readonly text: string; readonly lang?: "en" } | null {
  if (result === undefined || result.outcome === "ok" || result.outcome === "deniedByUser") return null;
  if (result.reason === "approvalExpired") return null;
  const known = catalogue[`reason:${result.reason}`] ?? catalogue[`outcome:${result.outcome}`];
  if (known === undefined) return { text: explainOutcome(call.name, result), lang: "en" };
  const told = result.error === undefined ? result : { ...result, error: callSentence(result.error.trim()) };
  return { text: known.replace("{tool}", () => `\`${call.name}\``).replace("{why}", () => why(told)) };
}

export const MODES: Readonly<Record<PermissionMode, CallState>> = {
  auto: { label: t`Runs by itself`, tone: "ok" },
  consent: { label: t`Asks first`, tone: "waiting" },
  stepUp: { label: t`Needs your passkey`, tone: "waiting" },
  forbidden: { label: t`Not allowed`, tone: "danger" },
};
