import { type QueryClient, useQuery } from "@tanstack/react-query";
import { useAsk } from "../session.tsx";

const people = ["people"] as const;
const sessions = ["agent-sessions"] as const;

/** How often both lists are read again while they are looked at: nobody tells the console when somebody signs in. */
const REFETCH_MILLISECONDS = 5_000;

/** Everybody who was ever enrolled, oldest first. */
export function usePeople() {
  const ask = useAsk();
  return useQuery({
    queryKey: people,
    queryFn: async () => (await ask("people/list", {})).people,
    refetchInterval: REFETCH_MILLISECONDS,
  });
}

/** What everybody who was ever enrolled is called, by id. Names do not change, so nobody asks for them again. */
export function usePeopleNames(): ReadonlyMap<string, string> {
  const ask = useAsk();
  const { data } = useQuery({ queryKey: people, queryFn: async () => (await ask("people/list", {})).people });
  return new Map(data?.map(({ id, name }) => [id, name]));
}

/** Everybody's agent sessions that are alive. */
export function useAliveSessions() {
  const ask = useAsk();
  return useQuery({
    queryKey: sessions,
    queryFn: async () => (await ask("sessions/list", {})).sessions,
    refetchInterval: REFETCH_MILLISECONDS,
  });
}

/** Reads both anew: what changes one often changes the other. */
export async function refetchPeople(cache: QueryClient): Promise<void> {
  await Promise.all([cache.invalidateQueries({ queryKey: people }), cache.invalidateQueries({ queryKey: sessions })]);
}
