import { WebAuthnError } from "@simplewebauthn/browser";
import { expect, test } from "vitest";
import { CheckFailed, explain, Refusal } from "../../../src/features/console/errors.ts";
import { ConnectionLost, RpcError, SessionOver } from "../../../src/protocol/rpc.ts";

function ceremony(code: WebAuthnError["code"], name = "Error"): WebAuthnError {
  const cause = new Error("internal detail");
  cause.name = name;
  return new WebAuthnError({ message: "internal detail", code, cause });
}

test("the gateway's words become a sentence", () => {
  expect(explain(new Refusal("enrolment", "this link was used already", 410))).toBe("This link was used already.");
  expect(explain(new RpcError(-32003, "that approval is not open"))).toBe("That approval is not open.");
  expect(explain(new Refusal("refused", "", 502))).toBe("The gateway refused without saying why.");
});

test.each([
  [new CheckFailed("It stopped."), "It stopped."],
  [new ConnectionLost(), "Check what happened"],
  [new SessionOver("ended"), "Sign in again"],
  [ceremony("ERROR_PASSTHROUGH_SEE_CAUSE_PROPERTY", "NotAllowedError"), "Nothing has changed"],
  [ceremony("ERROR_CEREMONY_ABORTED"), "Nothing has changed"],
  [ceremony("ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED"), "already holds a passkey"],
  [ceremony("ERROR_INVALID_RP_ID"), "do not work at this address"],
  [ceremony("ERROR_AUTHENTICATOR_MISSING_USER_VERIFICATION_SUPPORT"), "PIN or a fingerprint"],
  [ceremony("ERROR_AUTHENTICATOR_MISSING_DISCOVERABLE_CREDENTIAL_SUPPORT"), "cannot store passkeys"],
  [ceremony("ERROR_AUTHENTICATOR_GENERAL_ERROR"), "Try again"],
  [new TypeError("fetch failed: 127.0.0.1"), "cannot be reached"],
  ["a string", "cannot be reached"],
])("%s says what to do and quotes nothing internal", (error, words) => {
  expect(explain(error)).toContain(words);
  expect(explain(error)).not.toContain("internal detail");
});
