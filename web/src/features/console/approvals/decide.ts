import type { ApprovalDecided, ApprovalQuestion } from "../../../protocol/generated.ts";
import type { ConsoleClient, ConsoleEnvironment, RequestOptions } from "../console-environment.ts";
import { CheckFailed } from "../errors.ts";
import { type Inspection, inspect, toBase64Url } from "./challenge.ts";
import { type Coverage, pinsOf } from "./coverage.ts";
import { needsPasskey } from "./labels.ts";

/** Denies the call. */
export async function deny(client: ConsoleClient, approvalId: string): Promise<ApprovalDecided> {
  const challenge = challengeOf(await client.call("approvals/get", { approvalId }));
  return client.call("approvals/decide", { approvalId, challenge, decision: "deny" });
}

/**
 * Approves `inspected`, the statement that was on screen. A challenge is valid for a minute and a person may read for longer,
 * so a new one is fetched now, and refused unless it belongs to the very same statement.
 */
export async function approve(
  client: ConsoleClient,
  environment: ConsoleEnvironment,
  shown: Shown,
  coverage: Coverage,
): Promise<ApprovalDecided> {
  const { inspected } = shown;
  const approvalId = shown.question.approval.id;
  const question = await client.call("approvals/get", { approvalId });
  const challenge = challengeOf(question);
  const fresh = await inspect(question);
  if (fresh.mismatches.length > 0 || fresh.canonical !== inspected.canonical) {
    throw new CheckFailed("What the gateway now asks is not what you read, so nothing was approved. Reload this page.");
  }
  if (isOtherChange(question, shown.question)) {
    throw new ChangedMeanwhile(
      "What this would change is not what it was when you looked, so nothing was approved. It is shown anew: look again.",
    );
  }
  const assertion = needsPasskey(question.approval)
    ? await environment.askPasskey(signing(question, inspected, environment))
    : undefined;
  const pins = pinsOf(coverage);
  return client.call("approvals/decide", {
    approvalId,
    challenge,
    decision: "approve",
    scope: coverage.scope,
    ...(pins && { pins }),
    ...(pins && coverage.within && { within: coverage.within.kind }),
    ...(assertion && { assertion: { ...assertion } }),
  });
}

/** The question that was on screen, and what this browser computed about it. */
interface Shown {
  readonly question: ApprovalQuestion;
  readonly inspected: Inspection;
}

/** The file was written or deleted while the question about it was open. */
export class ChangedMeanwhile extends CheckFailed {}

function isOtherChange({ preview: now }: ApprovalQuestion, { preview: then }: ApprovalQuestion): boolean {
  return now?.change !== then?.change || now?.digest !== then?.digest;
}

/** An approval has a challenge for as long as it is pending. */
function challengeOf({ challenge }: ApprovalQuestion): string {
  if (challenge === undefined) throw new CheckFailed("This was decided a moment ago, so your answer was not sent.");
  return challenge;
}

/** What the passkey is asked to sign: the hash that this page computed over the statement it shows, never a value it received. */
function signing(question: ApprovalQuestion, inspected: Inspection, environment: ConsoleEnvironment): RequestOptions {
  const challenge = toBase64Url(inspected.hash);
  const offered = question.passkeyOptions as Partial<RequestOptions> | undefined;
  if (question.challenge !== challenge || (offered?.challenge ?? challenge) !== challenge) {
    throw new CheckFailed(
      "The gateway asks for a signature over something else than what you read. Nothing was signed.",
    );
  }
  return {
    challenge,
    rpId: environment.host,
    userVerification: question.approval.kind === "stepUp" ? "required" : "discouraged",
    ...(offered?.allowCredentials && { allowCredentials: offered.allowCredentials }),
    ...(offered?.timeout && { timeout: offered.timeout }),
  };
}
