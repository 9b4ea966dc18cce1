import type { AuditedCall, Reason } from "../../../protocol/generated.ts";
import { DECISIONS } from "./calls-view.ts";
import { wordOf } from "./outcome-words.ts";

/** Why a call came to nothing, in a few words that go on after an outcome. */
const REASONS: Readonly<Record<Reason, string>> = {
  replayConflict: "sent twice with different content",
  turnClosed: "its turn was over",
  staleSnapshot: "the list of tools was out of date",
  snapshotExpired: "the list of tools had expired",
  wrongConnection: "sent over another connection",
  notAdvertised: "not among the tools of its turn",
  policyChanged: "the policy changed in the meantime",
  policyFrozen: "everything was frozen",
  schema: "the arguments do not fit the tool",
  quotaExceeded: "a quota was used up",
  forbidden: "no rule allows it",
  denied: "a person said no",
  approvalExpired: "nobody decided in time",
  assertionInvalid: "the passkey's answer did not verify",
  noCredential: "no passkey was there to sign it",
  sessionEnded: "the turn or its session ended",
  toolTimeout: "the tool took too long",
  toolError: "the tool reported an error",
  sourceUnavailable: "the tool's source could not be reached",
  signInNeeded: "the tool's source asks for a sign-in",
  sandboxUnavailable: "the sandbox was not available",
  notInOrder: "asked for out of order",
  earlierCallFailed: "an earlier step failed",
  ledgerUnavailable: "it could not be recorded",
  outcomeUnknown: "nobody knows whether it took effect",
};

const DECISION_WORDS = new Map(DECISIONS);

/** A code that this build does not know stands as it is. */
export function reasonOf({ reason }: AuditedCall): string | undefined {
  return reason === undefined ? undefined : Object.hasOwn(REASONS, reason) ? REASONS[reason as Reason] : reason;
}

/** How it ended. What a tool refuses before its start did not fail while it ran. */
export function endOf({ outcome, startedAt }: AuditedCall): string {
  return outcome === "executionError" && startedAt === undefined ? "Failed before it ran" : wordOf(outcome);
}

/**
 * What decided about it. The record of a call that nobody answered and no rule refused names a decision too, because nothing
 * allowed it; for people that is no decision.
 */
export function decisionOf({ decision, outcome, answer }: AuditedCall): string | undefined {
  if (decision === undefined) return undefined;
  if (decision === "forbidden" && outcome !== "refusedByPolicy") return undefined;
  if (decision === "denied" && answer !== "denied") return undefined;
  return DECISION_WORDS.get(decision) ?? decision;
}
