import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useAsk, useSession } from "../session.tsx";

const key = ["grants"] as const;

/** The grants of this person that are in force, read anew when one begins, is used or ends. */
export function useGrants() {
  const ask = useAsk();
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(() => client.on("grants/changed", () => void refetchGrants(cache)), [client, cache]);
  return useQuery({ queryKey: key, queryFn: async () => (await ask("grants/list", {})).grants });
}

export function useRevokeGrant() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (grantId: string) => ask("grants/revoke", { grantId }),
    onSettled: () => refetchGrants(cache),
  });
}

export function refetchGrants(cache: QueryClient): Promise<void> {
  return cache.invalidateQueries({ queryKey: key });
}
