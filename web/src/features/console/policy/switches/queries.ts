import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useAsk, useSession } from "../../session.tsx";
import { documentsOf, type Texts } from "../editor/texts.ts";

const key = ["policy-switches"] as const;

/** How the switches stand. Read again under each new version. */
export function useSwitches() {
  const ask = useAsk();
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(() => client.on("policy/changed", () => void cache.invalidateQueries({ queryKey: key })), [client, cache]);
  return useQuery({ queryKey: key, queryFn: () => ask("policy/switches", {}) });
}

/** What a draft decides otherwise, over every kind of call. */
export function useComparison(texts: Texts) {
  const ask = useAsk();
  return useQuery({
    queryKey: ["policy-comparison", texts],
    queryFn: () => ask("policy/compare", { documents: documentsOf(texts) ?? [{ name: "", text: "" }] }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
