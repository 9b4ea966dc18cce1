import { t } from "../../../language/t.ts";
import type { ApprovalStatus, AuditedCall, Reason } from "../../../protocol/generated.ts";
import { DECISIONS } from "./calls-view.ts";
import { wordOf } from "./outcome-words.ts";

/** Why a call came to nothing, in a few words that go on after an outcome. */
const REASONS: Readonly<Record<Reason, string>> = {
  replayConflict: t`sent twice with different content`,
  turnClosed: t`its turn was over`,
  staleSnapshot: t`the list of tools was out of date`,
  snapshotExpired: t`the list of tools had expired`,
  wrongConnection: t`sent over another connection`,
  notAdvertised: t`not among the tools of its turn`,
  policyChanged: t`the policy changed in the meantime`,
  policyFrozen: t`everything was frozen`,
  schema: t`the arguments do not fit the tool`,
  quotaExceeded: t`a quota was used up`,
  forbidden: t`no rule allows it`,
  denied: t`a person said no`,
  approvalExpired: t`nobody decided in time`,
  assertionInvalid: t`the passkey's answer did not verify`,
  noCredential: t`no passkey was there to sign it`,
  sessionEnded: t`the turn or its session ended`,
  toolTimeout: t`the tool took too long`,
  toolError: t`the tool reported an error`,
  sourceUnavailable: t`the tool's source could not be reached`,
  signInNeeded: t`the tool's source asks for a sign-in`,
  sandboxUnavailable: t`the sandbox was not available`,
  notInOrder: t`asked for out of order`,
  earlierCallFailed: t`an earlier step failed`,
  ledgerUnavailable: t`it could not be recorded`,
  outcomeUnknown: t`nobody knows whether it took effect`,
};

const ANSWERS: Readonly<Record<ApprovalStatus, string>> = {
  pending: t`none yet`,
  approved: t`approved`,
  denied: t`denied`,
  expired: t`none in time`,
  cancelled: t`none: the question was withdrawn`,
};

const DECISION_WORDS = new Map(DECISIONS);

/** A code that this build does not know stands as it is. */
export function reasonWords(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as Reason] : reason;
}

/** What came of the question about a call. */
export function answerWords(answer = "pending"): string {
  return Object.hasOwn(ANSWERS, answer) ? ANSWERS[answer as ApprovalStatus] : answer;
}

export function decisionWords(decision: string): string {
  return DECISION_WORDS.get(decision) ?? decision;
}

/** Why it came to nothing, where its outcome does not say so already. */
export function reasonOf({ outcome, reason }: AuditedCall): string | undefined {
  return reason === undefined || isSaidBy(outcome, reason) ? undefined : reasonWords(reason);
}

/** "Denied by a person" leaves nothing for "a person said no" to say. */
export function isSaidBy(outcome: string, reason: string): boolean {
  return outcome === "deniedByUser" && reason === "denied";
}

/** How it ended. What a tool refuses before its start did not fail while it ran. */
export function endOf({ outcome, startedAt }: AuditedCall): string {
  return outcome === "executionError" && startedAt === undefined ? t`Failed before it ran` : wordOf(outcome);
}

/**
 * What decided about it. The record of a call that nobody answered and no rule refused names a decision too, because nothing
 * allowed it; for people that is no decision.
 */
export function decisionOf({ decision, outcome, answer }: AuditedCall): string | undefined {
  if (decision === undefined) return undefined;
  if (decision === "forbidden" && outcome !== "refusedByPolicy") return undefined;
  if (decision === "denied" && answer !== "denied") return undefined;
  return decisionWords(decision);
}
