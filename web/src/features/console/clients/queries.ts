import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useAsk } from "../session.tsx";

const key = ["clients"] as const;

/** How often the list is read again while it is looked at: nobody tells the console when a client calls something. */
const REFETCH_MILLISECONDS = 5_000;

/** The clients that act for this person, for an operator everybody's. */
export function useClients() {
  const ask = useAsk();
  return useQuery({
    queryKey: key,
    queryFn: async () => (await ask("clients/list", {})).clients,
    refetchInterval: REFETCH_MILLISECONDS,
  });
}

export function useDisconnect() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (clientId: string) => ask("clients/disconnect", { clientId }),
    onSettled: () => cache.invalidateQueries({ queryKey: key }),
  });
}
