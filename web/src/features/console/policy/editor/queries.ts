import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { useAsk, useSession } from "../../session.tsx";
import { bytesOf, documentsOf, MOST_BYTES, type Texts } from "./texts.ts";

const key = ["policy-editor"] as const;

/** The version in force with its texts, and whether it is frozen. */
export function usePolicyText() {
  const ask = useAsk();
  return useQuery({ queryKey: [...key, "text"], queryFn: () => ask("policy/get", {}) });
}

/** Versions that came into force, newest first. */
export function useHistory() {
  const ask = useAsk();
  return useInfiniteQuery({
    queryKey: [...key, "history"],
    queryFn: ({ pageParam }) => ask("policy/history", pageParam === undefined ? {} : { before: pageParam }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next,
  });
}

/** Versions that wait for signatures. */
export function useProposals() {
  const ask = useAsk();
  return useQuery({
    queryKey: [...key, "proposals"],
    queryFn: async () => (await ask("policy/proposals", {})).proposals,
  });
}

/** One of them as an operator reads it before they sign. */
export function useProposal(proposalId: string | undefined) {
  const ask = useAsk();
  return useQuery({
    queryKey: [...key, "proposal", proposalId],
    queryFn: () => ask("policy/open", { proposalId: proposalId ?? "" }),
    enabled: proposalId !== undefined,
  });
}

/** What is wrong with a draft, asked again a moment after each change of it. */
export function useCheck(texts: Texts) {
  const ask = useAsk();
  const settled = useSettled(texts);
  const documents = documentsOf(settled);
  const fits = useMemo(() => bytesOf(settled) <= MOST_BYTES, [settled]);
  const check = useQuery({
    enabled: fits,
    queryKey: [...key, "check", settled],
    queryFn: () => ask("policy/validate", { documents: documents ?? [{ name: "", text: "" }] }),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return { check, outdated: settled !== texts || check.isPlaceholderData };
}

/** Asks everything again when another version comes into force, is proposed, signed or withdrawn, or the policy is frozen. */
export function usePolicyUpdates(): () => void {
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(() => {
    const refetch = () => void cache.invalidateQueries({ queryKey: key });
    const stops = [client.on("policy/changed", refetch), client.on("policy/state", refetch)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [client, cache]);
  return () => void cache.invalidateQueries({ queryKey: key });
}

/** How long nothing has to be typed until a draft is examined. */
const SETTLE_MS = 500;

function useSettled(texts: Texts): Texts {
  const [settled, setSettled] = useState(texts);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(texts), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [texts]);
  return settled;
}
