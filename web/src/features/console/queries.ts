import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import type { Approval, ApprovalList, ApprovalQuestion, ApprovalStatus } from "../../protocol/generated.ts";
import { useAsk, useSession } from "./session.tsx";

const keys = {
  session: ["session"],
  approvals: ["approvals"],
  question: (id: string) => ["approvals", id],
  grants: ["grants"],
  passkeys: ["passkeys"],
  policy: ["policy"],
  troubles: ["troubles"],
} as const;

/** Who is signed in, and where the shell is. */
export function useDescription() {
  const ask = useAsk();
  return useQuery({ queryKey: keys.session, queryFn: () => ask("session/describe", {}) });
}

/** Approvals that this person may see, decided ones included. */
export function useApprovals() {
  const ask = useAsk();
  return useQuery({
    queryKey: keys.approvals,
    queryFn: async () => (await ask("approvals/list", { status: "all" })).approvals,
  });
}

/** One approval with its statement. Each fetch issues a challenge, so it happens only when it is asked for. */
export function useQuestion(id: string) {
  const ask = useAsk();
  return useQuery({ queryKey: keys.question(id), queryFn: () => ask("approvals/get", { approvalId: id }) });
}

/** Fetches an approval anew for the page that shows it. */
export function useAskAgain(id: string): () => void {
  const cache = useQueryClient();
  return useCallback(() => void cache.invalidateQueries({ queryKey: keys.question(id) }), [cache, id]);
}

export function useGrants() {
  const ask = useAsk();
  return useQuery({ queryKey: keys.grants, queryFn: async () => (await ask("grants/list", {})).grants });
}

export function useRevokeGrant() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (grantId: string) => ask("grants/revoke", { grantId }),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.grants }),
  });
}

export function usePasskeys() {
  const ask = useAsk();
  return useQuery({ queryKey: keys.passkeys, queryFn: async () => (await ask("passkeys/list", {})).passkeys });
}

export function useRenamePasskey() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (renamed: { readonly passkeyId: string; readonly name: string }) => ask("passkeys/rename", renamed),
    onSettled: () => cache.invalidateQueries({ queryKey: keys.passkeys }),
  });
}

export function usePolicy() {
  const ask = useAsk();
  const operator = useIsOperator();
  return useQuery({ queryKey: keys.policy, queryFn: () => ask("policy/describe", {}), enabled: operator });
}

/** The whole log, the policy and the list of people are for operators. */
export function useIsOperator(): boolean {
  return useDescription().data?.session.profile === "operator";
}

const TROUBLES_EVERY_MS = 15_000;

/** What keeps the gateway from working; a model that still loads is the usual one. */
export function useTroubles() {
  const { around } = useSession();
  return useQuery({
    queryKey: keys.troubles,
    queryFn: () => around.findTroubles(),
    refetchInterval: TROUBLES_EVERY_MS,
  });
}

export function forgetPasskeys(cache: QueryClient): Promise<void> {
  return cache.invalidateQueries({ queryKey: keys.passkeys });
}

export function forgetGrants(cache: QueryClient): Promise<void> {
  return cache.invalidateQueries({ queryKey: keys.grants });
}

/** Puts an approval that has just been heard of, or has just been decided, into everything that shows it. */
export function storeApproval(cache: QueryClient, approval: Approval): void {
  cache.setQueryData<ApprovalList["approvals"]>(keys.approvals, (known) => {
    if (known === undefined) return undefined;
    const others = known.filter((each) => each.id !== approval.id);
    return others.length === known.length
      ? [approval, ...known]
      : known.map((each) => (each.id === approval.id ? approval : each));
  });
  cache.setQueryData<ApprovalQuestion>(keys.question(approval.id), (known) => known && { ...known, approval });
}

/**
 * Keeps the pages in step with the gateway: what it says unasked goes straight into the cache, and after a lost connection
 * everything is asked again, for nobody can know what was missed. `onRequested` hears of each new question.
 */
export function useLiveUpdates(
  onRequested: (approval: Approval) => void,
  onResolved: (status: ApprovalStatus) => void,
): void {
  const { line, connection } = useSession();
  const cache = useQueryClient();
  const open = connection.phase === "open";

  useEffect(() => {
    const stops = [
      line.on("approvals/requested", ({ approval }) => {
        storeApproval(cache, approval);
        onRequested(approval);
      }),
      line.on("approvals/resolved", ({ approvalId, status }) => {
        const known = cache.getQueryData<ApprovalList["approvals"]>(keys.approvals);
        const approval =
          known?.find((each) => each.id === approvalId) ??
          cache.getQueryData<ApprovalQuestion>(keys.question(approvalId))?.approval;
        if (approval !== undefined) storeApproval(cache, { ...approval, status });
        onResolved(status);
      }),
      line.on("policy/changed", () => void cache.invalidateQueries({ queryKey: keys.policy })),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [line, cache, onRequested, onResolved]);

  const wasOpen = useRef<typeof line>(null);
  useEffect(() => {
    if (!open) return;
    if (wasOpen.current === line) void cache.invalidateQueries();
    wasOpen.current = line;
  }, [open, line, cache]);
}
