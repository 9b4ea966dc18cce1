import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { RpcError } from "../../../protocol/rpc.ts";
import { signIn } from "../ceremonies.ts";
import { Refusal } from "../faults.ts";
import { useSession } from "../session.tsx";

/**
 * An act on one's own passkeys, which the gateway allows only a short time after an answer by an existing one. When it says
 * that this was too long ago, `proofNeeded` becomes true and the next attempt begins with such an answer.
 */
export function useProvenAct<Given = void>(act: (given: Given) => Promise<unknown>, onDone: () => void) {
  const { around } = useSession();
  const [proofNeeded, setProofNeeded] = useState(false);
  const attempt = useMutation({
    mutationFn: async (given: Given) => {
      if (proofNeeded) await signIn(around);
      await act(given);
    },
    onSuccess: () => {
      setProofNeeded(false);
      onDone();
    },
    onError: (error) => {
      if (asksForProof(error)) setProofNeeded(true);
    },
  });
  return { attempt, proofNeeded, failure: asksForProof(attempt.error) ? null : attempt.error };
}

function asksForProof(error: Error | null): boolean {
  const word = error instanceof Refusal ? error.reason : error instanceof RpcError ? error.word : undefined;
  return word === "stepUpRequired";
}
