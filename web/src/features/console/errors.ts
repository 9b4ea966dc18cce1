import type { WebAuthnError } from "@simplewebauthn/browser";
import { t } from "../../language/t.ts";
import { ConnectionLost, RpcError, SessionOver } from "../../protocol/rpc.ts";
import { errorSentence } from "../../ui/error-sentence.ts";

/** The gateway understood a request to the sign-in endpoints and refused it. `reason` is the stable code. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly reason: string;
  readonly status: number;

  constructor(reason: string, message: string, status: number) {
    super(message);
    this.reason = reason;
    this.status = status;
  }
}

/** A check of this page failed, so it stopped before anything was decided. The message says why, in whole sentences. */
export class CheckFailed extends Error {
  override readonly name = "CheckFailed";
}

/** One or two sentences about any error: what happened and what to do. Of exceptions, only what the gateway said is shown. */
export function explain(error: unknown): string {
  if (error instanceof Refusal) return errorSentence(error.reason, error.message);
  if (error instanceof RpcError) return errorSentence(error.word, error.message);
  if (error instanceof CheckFailed) return error.message;
  if (error instanceof ConnectionLost) {
    return t`The connection was lost before the gateway answered. Check what happened before you repeat it.`;
  }
  if (error instanceof SessionOver) return t`Your console session has ended. Sign in again.`;
  if (isCeremonyError(error)) return explainCeremony(error);
  if (error instanceof DOMException && error.name === "NotAllowedError") return NOT_ANSWERED;
  return t`The gateway cannot be reached. Check that it runs, then try again.`;
}

// WebAuthn says the same for “cancelled” and “timed out” on purpose, so that a site learns nothing about the person.
const NOT_ANSWERED = t`No passkey answered: it was cancelled or it took too long. Nothing has changed. Try again.`;

/** Known by its code and not by its class: the library is loaded with the first ceremony. */
function isCeremonyError(error: unknown): error is WebAuthnError {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("ERROR_");
}

function explainCeremony(error: WebAuthnError): string {
  switch (error.code) {
    case "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED":
      return t`This device already holds a passkey for this account. Use another device or security key.`;
    case "ERROR_AUTHENTICATOR_MISSING_DISCOVERABLE_CREDENTIAL_SUPPORT":
      return t`That security key cannot store passkeys. Use another one, or this device itself.`;
    case "ERROR_AUTHENTICATOR_MISSING_USER_VERIFICATION_SUPPORT":
      return t`That authenticator cannot check who you are. Set up a PIN or a fingerprint on it, or use another one.`;
    case "ERROR_INVALID_DOMAIN":
    case "ERROR_INVALID_RP_ID":
      return t`Passkeys do not work at this address. Open the console under the name it was set up with.`;
    case "ERROR_CEREMONY_ABORTED":
      return NOT_ANSWERED;
    default:
      return error.name === "NotAllowedError" ? NOT_ANSWERED : t`The passkey could not be used. Try again.`;
  }
}
