import { type QueryClient, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import type {
  Approval,
  ApprovalList,
  ApprovalQuestion,
  ApprovalStatus,
  BreakGlass,
} from "../../../protocol/generated.ts";
import { useAsk, useDescription, useSession } from "../session.tsx";
import { groupPlans } from "./plan.ts";

const list = ["approvals"] as const;
const one = (id: string) => ["approvals", id] as const;
const notices = ["notices"] as const;

/** Nobody announces that a stopped turn has ended, so as long as one is shown it is looked at this often, in milliseconds. */
const STOPPED_FOR = 5_000;

/** Nor that a call has ended, to whoever approved it; milliseconds. */
const RUNNING_FOR = 2_000;

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
    ...noticesBeside(ask),
    select: ({ stopped }) => stopped,
  });
}

/** What operators did alone in the last days that takes several people; operators are told, others get nothing. */
export function useBrokenGlass() {
  const ask = useAsk();
  return useQuery({
    ...noticesBeside(ask),
    select: ({ brokenGlass }) => brokenGlass,
  });
}

function noticesBeside(ask: ReturnType<typeof useAsk>) {
  return queryOptions({
    queryKey: notices,
    queryFn: () => ask("approvals/list", { status: "pending" }),
    refetchInterval: ({ state }) => (state.data?.stopped.length ? STOPPED_FOR : false),
  });
}

/** Reads anew what is stopped now. */
export function refetchNotices(cache: QueryClient): Promise<void> {
  return cache.invalidateQueries({ queryKey: notices });
}

/** The approvals that still wait, the one that expires first in front. */
export function pendingOf(approvals: readonly Approval[] | undefined): readonly Approval[] {
  const pending = (approvals ?? []).filter(({ status, answered }) => status === "pending" && answered !== true);
  return pending.sort((first, second) => first.expiresAt.localeCompare(second.expiresAt));
}

/** Of the approvals that still wait, those that this person can bring on, and those that wait for somebody else. */
export function useWaiting(): Waiting {
  const pending = pendingOf(useApprovals().data);
  const person = useDescription().data?.session.principal;
  const others = pending.filter((approval) => person !== undefined && isForOthers(approval, person));
  // The steps of a plan in the order in which they run.
  return { mine: groupPlans(pending.filter((approval) => !others.includes(approval))).flat(), others };
}

interface Waiting {
  readonly mine: readonly Approval[];
  readonly others: readonly Approval[];
}

/** Whether only somebody else can bring an approval on: this person has given theirs, or asked for what others decide. */
function isForOthers(approval: Approval, person: string): boolean {
  const given = approval.given ?? [];
  const excluded = approval.requesterId === person && !approval.needs.requesterMayApprove;
  return excluded || given.some(({ principal }) => principal === person);
}

/** One approval with its statement. Each fetch issues a challenge, so it happens only when it is asked for. */
export function useQuestion(id: string) {
  const ask = useAsk();
  return useQuery({
    queryKey: one(id),
    queryFn: () => ask("approvals/get", { approvalId: id }),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isUnderWay(data) ? RUNNING_FOR : false),
  });
}

/** Whether an approved call has not ended yet, as far as is known. Without a challenge, nothing is issued by asking again. */
function isUnderWay({ approval, background }: ApprovalQuestion): boolean {
  return approval.status === "approved" && background?.call?.outcome === "open";
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

/** Names the answer to an approval that is given on a page of this window, which says itself what came of it. */
export const answerTo = (id: string) => ["answer", id] as const;

function isAnsweredHere(cache: QueryClient, id: string): boolean {
  const answers = cache.getMutationCache().findAll({ mutationKey: answerTo(id) });
  return answers.some(({ state }) => state.status === "pending" || state.status === "success");
}

/** Who is told of what the gateway announces about approvals. */
export interface ApprovalListener {
  readonly onRequested: (approval: Approval) => void;
  /** Other people have approved it than before. */
  readonly onChanged: (approval: Approval) => void;
  readonly onResolved: (status: ApprovalStatus) => void;
  readonly onBreakGlass: (broken: BreakGlass) => void;
}

/** Puts what the gateway announces about approvals straight into the cache, and tells the listener of it. */
export function useApprovalUpdates(listener: ApprovalListener): void {
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(() => {
    const listeners = [
      client.on("approvals/requested", ({ approval }) => {
        storeApproval(cache, approval);
        listener.onRequested(approval);
      }),
      client.on("approvals/changed", ({ approval }) => {
        storeApproval(cache, approval);
        listener.onChanged(approval);
      }),
      client.on("approvals/break-glass", (broken) => {
        void cache.invalidateQueries({ queryKey: notices });
        listener.onBreakGlass(broken);
      }),
      client.on("approvals/resolved", ({ approvalId, status, ...why }) => {
        const known = cache.getQueryData<ApprovalList["approvals"]>(list);
        const approval =
          known?.find((each) => each.id === approvalId) ??
          cache.getQueryData<ApprovalQuestion>(one(approvalId))?.approval;
        if (approval !== undefined) storeApproval(cache, { ...approval, ...why, status });
        // A no may have been one too many, and a yes sets the count back.
        void cache.invalidateQueries({ queryKey: notices });
        if (!isAnsweredHere(cache, approvalId)) listener.onResolved(status);
      }),
    ];
    return () => {
      for (const stop of listeners) stop();
    };
  }, [client, cache, listener]);
}
