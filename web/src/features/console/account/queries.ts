import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useAsk } from "../session.tsx";

const key = ["passkeys"] as const;

/** The passkeys of this person. */
export function usePasskeys() {
  const ask = useAsk();
  return useQuery({ queryKey: key, queryFn: async () => (await ask("passkeys/list", {})).passkeys });
}

export function useRenamePasskey() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (renamed: { readonly passkeyId: string; readonly name: string }) => ask("passkeys/rename", renamed),
    onSettled: () => refetchPasskeys(cache),
  });
}

export function refetchPasskeys(cache: QueryClient): Promise<void> {
  return cache.invalidateQueries({ queryKey: key });
}
