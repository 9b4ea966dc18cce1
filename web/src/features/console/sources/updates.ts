import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useSession } from "../session.tsx";

export const sourcesKey = ["sources"] as const;
export const secretsKey = ["secrets"] as const;

/** Asks again when the gateway announces that sources or secrets are not as they were, whoever or whatever changed them. */
export function useSourceUpdates(): void {
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(() => client.on("sources/changed", () => void refetchSecrets(cache)), [client, cache]);
}

export async function refetchSecrets(cache: QueryClient): Promise<void> {
  await Promise.all([
    cache.invalidateQueries({ queryKey: secretsKey }),
    cache.invalidateQueries({ queryKey: sourcesKey }),
  ]);
}
