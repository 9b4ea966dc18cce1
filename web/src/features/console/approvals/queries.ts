import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import type {
  Approval,
  ApprovalList,
  ApprovalQuestion,
  ApprovalStatus,
  StoppedView,
} from "../../../protocol/generated.ts";
import { useAsk, useSession } from "../session.tsx";

const list = ["approvals"] as const;
const one = (id: string) => ["approvals", id] as const;
const stops = ["stopped"] as const;

/** Nobody announces that a stopped turn has ended, so as long as one is shown it is looked at this often, in milliseconds. */
const STOPPED_FOR = 5_000;

/** Approvals that this person may see, decided ones included. */
export function useApprovals() {
  const ask = useAsk();
  return useQuery({
    queryKey: list,
    queryFn: async () => (await ask("approvals/list", { status: "all" })).approvals,
  });
}

/** The sessions and turns that ask this person nothing more. */
export function useStopped() {
  const ask = useAsk();
  return useQuery({
    queryKey: stops,
    queryFn: async () => (await ask("approvals/list", { status: "pending" })).stopped,
    refetchInterval: ({ state }) => (state.data?.length ? STOPPED_FOR : false),
  });
}

/** Lets what was stopped ask again. What is stopped now is read anew whatever comes of it: a turn may have ended by itself. */
export function useAllowQuestions() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ sessionId, turnId }: StoppedView) =>
      turnId === undefined ? ask("sessions/allow-questions", { sessionId }) : ask("turns/allow-questions", { turnId }),
    onSettled: () => cache.invalidateQueries({ queryKey: stops }),
  });
}

/** The approvals that still wait, the one that expires first in front. */
export function pendingOf(approvals: readonly Approval[] | undefined): readonly Approval[] {
  const pending = (approvals ?? []).filter((approval) => approval.status === "pending");
  return pending.sort((first, second) => first.expiresAt.localeCompare(second.expiresAt));
}

/** One approval with its statement. Each fetch issues a challenge, so it happens only when it is asked for. */
export function useQuestion(id: string) {
  const ask = useAsk();
  return useQuery({ queryKey: one(id), queryFn: () => ask("approvals/get", { approvalId: id }) });
}

/** Fetches an approval anew for the page that shows it. */
export function useRefetchQuestion(id: string): () => void {
  const cache = useQueryClient();
  return useCallback(() => void cache.invalidateQueries({ queryKey: one(id) }), [cache, id]);
}

/** Puts an approval that was just announced or decided into everything that shows it. */
export function storeApproval(cache: QueryClient, approval: Approval): void {
  cache.setQueryData<ApprovalList["approvals"]>(list, (known) => {
    if (known === undefined) return undefined;
    const others = known.filter((each) => each.id !== approval.id);
    return others.length === known.length
      ? [approval, ...known]
      : known.map((each) => (each.id === approval.id ? approval : each));
  });
  cache.setQueryData<ApprovalQuestion>(one(approval.id), (known) => known && { ...known, approval });
}

/** Puts what the gateway announces about approvals straight into the cache, and tells the two listeners of it. */
export function useApprovalUpdates(
  onRequested: (approval: Approval) => void,
  onResolved: (status: ApprovalStatus) => void,
): void {
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(() => {
    const listeners = [
      client.on("approvals/requested", ({ approval }) => {
        storeApproval(cache, approval);
        onRequested(approval);
      }),
      client.on("approvals/resolved", ({ approvalId, status, ...why }) => {
        const known = cache.getQueryData<ApprovalList["approvals"]>(list);
        const approval =
          known?.find((each) => each.id === approvalId) ??
          cache.getQueryData<ApprovalQuestion>(one(approvalId))?.approval;
        if (approval !== undefined) storeApproval(cache, { ...approval, ...why, status });
        // A no may have been one too many, and a yes sets the count back.
        void cache.invalidateQueries({ queryKey: stops });
        onResolved(status);
      }),
    ];
    return () => {
      for (const stop of listeners) stop();
    };
  }, [client, cache, onRequested, onResolved]);
}
