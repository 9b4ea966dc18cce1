import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { AuditedCall } from "../../../protocol/generated.ts";
import { now } from "../../../ui/clock.ts";
import { useAsk } from "../session.tsx";
import { type CallsView, callFilterOf } from "./calls-view.ts";

const PAGE = 100;

/** How often a page that follows the log asks again. */
const FOLLOWING_MS = 3_000;

const SINKS_MS = 10_000;

/** The calls of a view, newest first, page by page; all of them asked for again while the page follows the log. */
export function useCalls(view: CallsView, following: boolean) {
  const ask = useAsk();
  return useInfiniteQuery({
    queryKey: ["audit", "calls", view],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      ask("audit/calls", {
        filter: callFilterOf(view, now()),
        limit: PAGE,
        ...(pageParam !== undefined && { cursor: pageParam }),
      }),
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: following && FOLLOWING_MS,
  });
}

/** How many there are, by outcome and over time. The last answer stays on screen while the next is asked for. */
export function useCallCount(view: CallsView, following: boolean) {
  const ask = useAsk();
  return useQuery({
    queryKey: ["audit", "count", view],
    queryFn: () => ask("audit/count", { filter: callFilterOf(view, now()) }),
    placeholderData: keepPreviousData,
    refetchInterval: following && FOLLOWING_MS,
  });
}

/** How far the places are that the log is sent to; asked by whoever may know it. */
export function useSinks(allowed: boolean) {
  const ask = useAsk();
  return useQuery({
    queryKey: ["audit", "sinks"],
    queryFn: () => ask("audit/sinks", {}),
    enabled: allowed,
    refetchInterval: SINKS_MS,
  });
}

/** What filters can choose from; while the page follows the log, also what comes newly into it. */
export function useCallChoices(following = false) {
  const ask = useAsk();
  return useQuery({
    queryKey: ["audit", "choices"],
    queryFn: () => ask("audit/choices", {}),
    refetchInterval: following && FOLLOWING_MS,
  });
}

/** Everything that is on record of one call. */
export function useCallDetails(position: number, enabled = true) {
  const ask = useAsk();
  return useQuery({ queryKey: ["audit", "call", position], queryFn: () => ask("audit/call", { position }), enabled });
}

/** What the conversation of a call is called; nothing where it was deleted. Of older ones, the records of the call tell it. */
export function useTitleOf({ conversationId, position }: AuditedCall): string | undefined {
  const recent = useRecentConversations();
  const known = recent.data?.conversations.find((each) => each.conversationId === conversationId);
  const details = useCallDetails(position, recent.isError || (recent.isSuccess && known === undefined));
  return known === undefined ? details.data?.title : known.title;
}

/** Conversations that can be compared: those of the newest calls. */
export function useRecentConversations() {
  const ask = useAsk();
  return useQuery({ queryKey: ["audit", "conversations"], queryFn: () => ask("audit/conversations", {}) });
}

/** Two conversations side by side; asked for when there are two. */
export function useConversationComparison(first: string, second: string) {
  const ask = useAsk();
  return useQuery({
    queryKey: ["audit", "compare", first, second],
    queryFn: () => ask("audit/compare", { first, second }),
    enabled: first !== "" && second !== "" && first !== second,
  });
}

/** What people were asked, over a time that ends now. */
export function useLoad(milliseconds: number) {
  const ask = useAsk();
  return useQuery({
    queryKey: ["audit", "load", milliseconds],
    queryFn: () => ask("audit/load", { since: new Date(now() - milliseconds).toISOString() }),
    placeholderData: keepPreviousData,
  });
}

/** What was used of models, over a time that ends now. */
export function useModelUse(milliseconds: number) {
  const ask = useAsk();
  return useQuery({
    queryKey: ["audit", "models", milliseconds],
    queryFn: () => ask("audit/models", { since: new Date(now() - milliseconds).toISOString() }),
    placeholderData: keepPreviousData,
  });
}
