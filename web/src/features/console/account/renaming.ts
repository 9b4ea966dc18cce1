import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useAsk } from "../session.tsx";
import { refetchPasskeys } from "./queries.ts";

/** Gives a passkey another name. */
export function useRenamePasskey() {
  const ask = useAsk();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (renamed: { readonly passkeyId: string; readonly name: string }) => ask("passkeys/rename", renamed),
    onSettled: () => refetchPasskeys(cache),
  });
}
