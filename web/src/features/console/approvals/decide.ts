import { t } from "../../../language/t.ts";
import type { ApprovalDecided, ApprovalQuestion } from "../../../protocol/generated.ts";
import { hashText } from "../../../ui/sha256.ts";
import type { ConsoleClient, ConsoleEnvironment, RequestOptions } from "../console-environment.ts";
import { CheckFailed } from "../errors.ts";
import { canonicalText, type Inspection, inspect, toBase64Url } from "./challenge.ts";
import { type Coverage, pinsOf } from "./coverage.ts";
import { needsPasskey } from "./labels.ts";

/** Denies the call. */
export async function deny(client: ConsoleClient, approvalId: string): Promise<ApprovalDecided> {
  const challenge = challengeOf(await client.call("approvals/get", { approvalId }));
  return client.call("approvals/decide", { approvalId, challenge, decision: "deny" });
}

/** Approves `inspected`, the statement that was on screen. */
export async function approve(
  client: ConsoleClient,
  environment: ConsoleEnvironment,
  shown: Shown,
  coverage: Coverage,
): Promise<ApprovalDecided> {
  const question = await fetchAgain(client, shown);
  const assertion = needsPasskey(question.approval)
    ? await environment.askPasskey(signing(question, shown.inspected, environment))
    : undefined;
  const pins = pinsOf(coverage);
  return client.call("approvals/decide", {
    approvalId: question.approval.id,
    challenge: challengeOf(question),
    decision: "approve",
    scope: coverage.scope,
    ...(pins && { pins }),
    ...(pins && coverage.within && { within: coverage.within.kind }),
    ...(assertion && { assertion: { ...assertion } }),
  });
}

/**
 * Approves alone what takes several people, for a reason. The passkey verifies the person, and signs the statement that was on
 * screen with who it is and why added to it: such a signature can never be used as one of several approvals.
 */
export async function approveAlone(
  client: ConsoleClient,
  environment: ConsoleEnvironment,
  shown: Shown,
  alone: ActingAlone,
): Promise<ApprovalDecided> {
  const question = await fetchAgain(client, shown);
  const { principal, reason } = alone;
  const statement = canonicalText({ ...question.statement, breakGlass: { principal, reason } });
  const request = signing(question, shown.inspected, environment);
  const assertion = await environment.askPasskey({
    ...request,
    challenge: toBase64Url(await hashText(statement)),
    userVerification: "required",
  });
  return client.call("approvals/decide", {
    approvalId: question.approval.id,
    challenge: challengeOf(question),
    decision: "approve",
    scope: "once",
    breakGlass: reason,
    assertion: { ...assertion },
  });
}

/** Who acts alone, by the id of the person, and why, without blanks around it. */
interface ActingAlone {
  readonly principal: string;
  readonly reason: string;
}

/**
 * The question as it is now. A challenge is valid for a minute and a person may read for longer, so a new one is fetched, and
 * refused unless it belongs to the very same statement.
 */
async function fetchAgain(client: ConsoleClient, shown: Shown): Promise<ApprovalQuestion> {
  const question = await client.call("approvals/get", { approvalId: shown.question.approval.id });
  challengeOf(question);
  const fresh = await inspect(question);
  if (fresh.mismatches.length > 0 || fresh.canonical !== shown.inspected.canonical) {
    throw new CheckFailed(
      t`What the gateway now asks is not what you read, so nothing was approved. Reload this page.`,
    );
  }
  if (isOtherChange(question, shown.question)) {
    throw new ChangedMeanwhile(
      t`What this would change is not what it was when you looked, so nothing was approved. It is shown anew: look again.`,
    );
  }
  return question;
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
  if (challenge === undefined) throw new CheckFailed(t`This was decided a moment ago, so your answer was not sent.`);
  return challenge;
}

/** What the passkey is asked to sign: the hash that this page computed over the statement it shows, never a value it received. */
function signing(question: ApprovalQuestion, inspected: Inspection, environment: ConsoleEnvironment): RequestOptions {
  const challenge = toBase64Url(inspected.hash);
  const offered = question.passkeyOptions as Partial<RequestOptions> | undefined;
  if (question.challenge !== challenge || (offered?.challenge ?? challenge) !== challenge) {
    throw new CheckFailed(
      t`The gateway asks for a signature over something else than what you read. Nothing was signed.`,
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
