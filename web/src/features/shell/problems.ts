import { t } from "../../language/t.ts";
import { RpcCode } from "../../protocol/codes.ts";
import { RpcError, SessionOver } from "../../protocol/rpc.ts";
import { errorSentence } from "../../ui/error-sentence.ts";
import { PartMissing } from "./shell-environment.ts";

/** Why something that a person did on the page came to nothing. What the loop says of a turn is the loop's own, in English. */
export function explainProblem(error: unknown): string {
  if (error instanceof PartMissing) return error.message;
  if (error instanceof SessionOver) return t`Your session has ended.`;
  if (error instanceof RpcError && error.code === RpcCode.notFound) return t`That does not exist, or it is not yours.`;
  const failed = t`The gateway could not do that. Please try again.`;
  return error instanceof RpcError ? `${failed} (${errorSentence(error.word, error.message)})` : failed;
}
