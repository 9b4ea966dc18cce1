import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ElicitationAnswer } from "../../../protocol/generated.ts";
import { useAsk } from "../session.tsx";
import { forget } from "./queries.ts";

/** Sends an answer, and takes the question out of what waits. */
export function useAnswer() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (answer: ElicitationAnswer) => ask("elicitations/answer", answer),
    onSuccess: (_, { elicitationId }) => forget(cache, elicitationId),
  });
}
