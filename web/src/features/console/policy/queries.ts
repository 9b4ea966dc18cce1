import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useAsk, useSession } from "../session.tsx";

const key = ["policy-overview"] as const;

/** What each kind of action takes: for operators everybody's row, for others their own. Read again under each new version. */
export function useOverview() {
  const ask = useAsk();
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(() => client.on("policy/changed", () => void cache.invalidateQueries({ queryKey: key })), [client, cache]);
  return useQuery({ queryKey: key, queryFn: () => ask("policy/overview", {}) });
}
