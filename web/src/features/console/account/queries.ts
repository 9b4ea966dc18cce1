import { type QueryClient, useQuery } from "@tanstack/react-query";
import { useAsk } from "../session.tsx";

const key = ["passkeys"] as const;

/** The passkeys of this person. */
export function usePasskeys() {
  const ask = useAsk();
  return useQuery({ queryKey: key, queryFn: async () => (await ask("passkeys/list", {})).passkeys });
}

export function refetchPasskeys(cache: QueryClient): Promise<void> {
  return cache.invalidateQueries({ queryKey: key });
}
