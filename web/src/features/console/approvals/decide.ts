import type { ApprovalDecided, ApprovalQuestion } from "../../../protocol/generated.ts";
import { Halted } from "../faults.ts";
import type { ConsoleLine, RequestOptions, Surroundings } from "../surroundings.ts";
import { type Inspection, inspect, toBase64Url } from "./challenge.ts";
import { type Coverage, pinsOf } from "./coverage.ts";
import { needsPasskey } from "./words.ts";

/** Says no. */
export async function deny(line: ConsoleLine, approvalId: string): Promise<ApprovalDecided> {
  const challenge = challengeOf(await line.call("approvals/get", { approvalId }));
  return line.call("approvals/decide", { approvalId, challenge, decision: "deny" });
}

/**
 * Says yes to `inspected`, the statement that was on screen. A challenge lives a minute and a person may read for longer, so
 * a new one is fetched now, and refused unless it belongs to the very same statement.
 */
export async function approve(
  line: ConsoleLine,
  around: Surroundings,
  inspected: Inspection,
  coverage: Coverage,
  approvalId: string,
): Promise<ApprovalDecided> {
  const question = await line.call("approvals/get", { approvalId });
  const challenge = challengeOf(question);
  const fresh = await inspect(question);
  if (fresh.mismatches.length > 0 || fresh.canonical !== inspected.canonical) {
    throw new Halted("What the gateway now asks is not what you read, so nothing was approved. Reload this page.");
  }
  const assertion = needsPasskey(question.approval)
    ? await around.askPasskey(signing(question, inspected, around))
    : undefined;
  const pins = pinsOf(coverage);
  return line.call("approvals/decide", {
    approvalId,
    challenge,
    decision: "approve",
    scope: coverage.scope,
    ...(pins && { pins }),
    ...(assertion && { assertion: { ...assertion } }),
  });
}

/** A question has a challenge for as long as it can be answered. */
function challengeOf({ challenge }: ApprovalQuestion): string {
  if (challenge === undefined) throw new Halted("This was settled a moment ago, so your answer was not sent.");
  return challenge;
}

/** What the passkey is asked to sign: the hash that this page computed over the statement it shows, and nothing it was told. */
function signing(question: ApprovalQuestion, inspected: Inspection, around: Surroundings): RequestOptions {
  const challenge = toBase64Url(inspected.hash);
  const offered = question.passkeyOptions as Partial<RequestOptions> | undefined;
  if (question.challenge !== challenge || (offered?.challenge ?? challenge) !== challenge) {
    throw new Halted("The gateway asks for a signature over something else than what you read. Nothing was signed.");
  }
  return {
    challenge,
    rpId: around.host,
    userVerification: question.approval.kind === "stepUp" ? "required" : "discouraged",
    ...(offered?.allowCredentials && { allowCredentials: offered.allowCredentials }),
    ...(offered?.timeout && { timeout: offered.timeout }),
  };
}
