import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useAsk } from "../session.tsx";

const key = ["grants"] as const;

/** The grants of this person that are in force. */
export function useGrants() {
  const ask = useAsk();
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
