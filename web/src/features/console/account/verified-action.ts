import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ConnectionLost, RpcError } from "../../../protocol/rpc.ts";
import { signIn } from "../ceremonies.ts";
import { Refusal } from "../errors.ts";
import { useSession } from "../session.tsx";

/**
 * What the gateway allows only a short time after a sign-in with a passkey: a change to one's own passkeys, or more authority for
 * somebody. When it says that this was too long ago, `verificationNeeded` becomes true and the next attempt begins with a sign-in.
 */
export function useVerifiedAction<Given = void, Done = unknown>(
  action: (given: Given) => Promise<Done>,
  onDone: (done: Done) => void,
) {
  const { environment } = useSession();
  const [verificationNeeded, setVerificationNeeded] = useState(false);
  const attempt = useMutation({
    mutationFn: async (given: Given) => {
      if (verificationNeeded) await signIn(environment);
      try {
        return await action(given);
      } catch (error) {
        // The sign-in closed the sockets of the old cookie; a request sent on one at that moment did not arrive.
        if (!verificationNeeded || !(error instanceof ConnectionLost)) throw error;
        return await action(given);
      }
    },
    onSuccess: (done) => {
      setVerificationNeeded(false);
      onDone(done);
    },
    onError: (error) => {
      if (asksForVerification(error)) setVerificationNeeded(true);
    },
  });
  return { attempt, verificationNeeded, failure: asksForVerification(attempt.error) ? null : attempt.error };
}

function asksForVerification(error: Error | null): boolean {
  const word = error instanceof Refusal ? error.reason : error instanceof RpcError ? error.word : undefined;
  return word === "stepUpRequired";
}
