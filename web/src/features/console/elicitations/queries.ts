import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Elicitation } from "../../../protocol/generated.ts";
import { useAsk, useSession } from "../session.tsx";

const list = ["elicitations"] as const;

/** What the servers of tools ask this person, the oldest question first. */
export function useElicitations() {
  const ask = useAsk();
  return useQuery({
    queryKey: list,
    queryFn: async () => (await ask("elicitations/list", {})).elicitations,
  });
}

/** Puts what the gateway announces about such questions straight into the cache. */
export function useElicitationUpdates(onRequested: (source: string) => void): void {
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(() => {
    const listeners = [
      client.on("elicitations/requested", ({ elicitation }) => {
        cache.setQueryData<Elicitation[]>(list, (known) => known && [...without(known, elicitation.id), elicitation]);
        onRequested(elicitation.source);
      }),
      client.on("elicitations/resolved", ({ elicitationId }) => forget(cache, elicitationId)),
    ];
    return () => {
      for (const stop of listeners) stop();
    };
  }, [client, cache, onRequested]);
}

/** Takes a question that was answered out of what waits. */
export function forget(cache: QueryClient, id: string): void {
  cache.setQueryData<Elicitation[]>(list, (known) => known && without(known, id));
}

function without(known: readonly Elicitation[], id: string): Elicitation[] {
  return known.filter((each) => each.id !== id);
}
