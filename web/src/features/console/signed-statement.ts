import { t } from "../../language/t.ts";
import type { ThawQuestion } from "../../protocol/generated.ts";
import { hashText, toHex } from "../../ui/sha256.ts";
import { canonicalText, toBase64Url } from "./approvals/challenge.ts";
import type { RequestOptions } from "./console-environment.ts";
import { CheckFailed } from "./errors.ts";

export const NOT_WHAT_IS_SHOWN = t`The gateway asks for a signature over something else than what this page shows. Nothing was signed.`;

/** What the passkey is asked to sign: the hash that this page computed over the statement. Throws CheckFailed for another one. */
export async function signStatement(
  statement: ThawQuestion["statement"],
  announced: string,
  offered: Partial<RequestOptions>,
  host: string,
): Promise<RequestOptions> {
  const hash = await hashText(canonicalText(statement));
  const challenge = toBase64Url(hash);
  if (announced !== toHex(hash) || offered.challenge !== challenge) throw new CheckFailed(NOT_WHAT_IS_SHOWN);
  return {
    challenge,
    rpId: host,
    userVerification: "required",
    ...(offered.allowCredentials && { allowCredentials: offered.allowCredentials }),
    ...(offered.timeout && { timeout: offered.timeout }),
  };
}
