import { t } from "../../../language/t.ts";
import type { PlanDecided, PlanQuestion } from "../../../protocol/generated.ts";
import { hashText } from "../../../ui/sha256.ts";
import type { ConsoleClient, ConsoleEnvironment, RequestOptions } from "../console-environment.ts";
import { CheckFailed } from "../errors.ts";
import { canonicalText, type Inspection, inspect, toBase64Url } from "./challenge.ts";
import { needsPasskey } from "./labels.ts";

/**
 * Approves every covered part of a plan: the statements of `shown`, which were all on screen, and no others. Challenges last for a
 * minute and a person may read for longer, so the plan is fetched again, and refused unless it is the very same.
 */
export async function approvePlan(
  client: ConsoleClient,
  environment: ConsoleEnvironment,
  shown: ReadonlyMap<string, Inspection>,
  approvalId: string,
): Promise<PlanDecided> {
  const plan = await client.call("approvals/get-plan", { approvalId });
  const questions = plan.parts.filter(({ covered }) => covered).map(({ question }) => question);
  const fresh = await Promise.all(questions.map(inspect));
  const isSame =
    questions.length === shown.size &&
    fresh.every(({ canonical, mismatches }, place) => {
      const seen = shown.get(questions[place]?.approval.id ?? "");
      return mismatches.length === 0 && seen?.canonical === canonical;
    });
  if (!isSame) {
    throw new CheckFailed(t`What waits now is not what you read, so nothing was approved. Look at the steps again.`);
  }
  const assertion = questions.some(({ approval }) => needsPasskey(approval))
    ? await environment.askPasskey(await signing(plan, fresh, environment))
    : undefined;
  return client.call("approvals/decide-plan", {
    parts: questions.map(({ approval, challenge = "" }) => ({ approvalId: approval.id, challenge })),
    ...(assertion && { assertion: { ...assertion } }),
  });
}

/** What the passkey signs: the list of the digests that this page computed itself, in the order in which the steps run. */
async function signing(
  { parts, passkeyOptions }: PlanQuestion,
  inspections: readonly Inspection[],
  environment: ConsoleEnvironment,
): Promise<RequestOptions> {
  const statements = inspections.map(({ digest }) => digest);
  const challenge = toBase64Url(await hashText(canonicalText({ type: "countersign.plan", v: 1, statements })));
  const offered = passkeyOptions as Partial<RequestOptions> | undefined;
  if (offered !== undefined && offered.challenge !== challenge) {
    throw new CheckFailed(
      t`The gateway asks for a signature over something else than what you read. Nothing was signed.`,
    );
  }
  const verified = parts.some(({ covered, question }) => covered && question.approval.kind === "stepUp");
  return {
    challenge,
    rpId: environment.host,
    userVerification: verified ? "required" : (offered?.userVerification ?? "discouraged"),
    ...(offered?.allowCredentials && { allowCredentials: offered.allowCredentials }),
    ...(offered?.timeout && { timeout: offered.timeout }),
  };
}
