import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { StoppedView } from "../../../protocol/generated.ts";
import { useAsk } from "../session.tsx";
import { refetchNotices } from "./queries.ts";

/** Lets what was stopped ask again. What is stopped now is read anew whatever comes of it: a turn may have ended by itself. */
export function useAllowQuestions() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ sessionId, turnId }: StoppedView) =>
      turnId === undefined ? ask("sessions/allow-questions", { sessionId }) : ask("turns/allow-questions", { turnId }),
    onSettled: () => refetchNotices(cache),
  });
}
