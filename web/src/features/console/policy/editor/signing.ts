import { t } from "../../../../language/t.ts";
import type { PolicyDocument, ProposalOpened, ThawQuestion } from "../../../../protocol/generated.ts";
import { hashText, toHex } from "../../../../ui/sha256.ts";
import { canonicalText } from "../../approvals/challenge.ts";
import type { RequestOptions } from "../../console-environment.ts";
import { CheckFailed } from "../../errors.ts";
import { NOT_WHAT_IS_SHOWN, signStatement } from "../../signed-statement.ts";
import { textsOf } from "./texts.ts";

/**
 * What the passkey is asked to sign for a version: the hash that this page computed over the statement. Before that, the texts
 * and the reason on the page are checked to be those of which the statement speaks. Throws CheckFailed.
 */
export async function signVersion(opened: ProposalOpened, host: string): Promise<RequestOptions> {
  const { statement, proposal, documents } = opened;
  const isCase = ({ name }: PolicyDocument) => name.startsWith("cases/");
  const told: readonly (readonly [unknown, unknown])[] = [
    [statement.type, "countersign.policy-version"],
    [statement.proposalId, proposal.proposalId],
    [statement.reason, proposal.reason],
    [statement.policyVersion, proposal.version],
    [statement.basePolicyVersion, proposal.base],
    [statement.signatures, proposal.needed],
    [statement.policyVersion, await digestOf(documents.filter((each) => !isCase(each)))],
    [statement.casesDigest, await digestOf(documents.filter(isCase))],
  ];
  if (told.some(([signed, shown]) => signed !== shown)) throw new CheckFailed(NOT_WHAT_IS_SHOWN);
  if (opened.passkeyOptions === undefined) throw new CheckFailed(t`You have signed this version already.`);
  return signStatement(statement, opened.statementDigest, opened.passkeyOptions, host);
}

/** The same for the end of a freeze. */
export async function signThaw(question: ThawQuestion, host: string): Promise<RequestOptions> {
  const { statement, freeze } = question;
  if (statement.type !== "countersign.policy-thaw" || statement.freezeId !== freeze.freezeId) {
    throw new CheckFailed(NOT_WHAT_IS_SHOWN);
  }
  return signStatement(statement, question.statementDigest, question.passkeyOptions, host);
}

async function digestOf(documents: readonly PolicyDocument[]): Promise<string> {
  return toHex(await hashText(canonicalText(textsOf(documents))));
}
