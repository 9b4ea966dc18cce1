import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useAsk, useIsOperator, useSession } from "../session.tsx";

const policy = ["policy"] as const;
const PROBLEMS_EVERY_MS = 15_000;

/** The policy in force, kept up to date. Only operators may see it. */
export function usePolicy() {
  const ask = useAsk();
  const { client } = useSession();
  const cache = useQueryClient();
  const enabled = useIsOperator();
  useEffect(
    () => client.on("policy/changed", () => void cache.invalidateQueries({ queryKey: policy })),
    [client, cache],
  );
  return useQuery({ queryKey: policy, queryFn: () => ask("policy/describe", {}), enabled });
}

/** What keeps the gateway from working; a model that still loads is the usual one. */
export function useReadinessProblems() {
  const { environment } = useSession();
  return useQuery({
    queryKey: ["readiness"],
    queryFn: () => environment.readProblems(),
    refetchInterval: PROBLEMS_EVERY_MS,
  });
}

const callsToday = ["calls-today"] as const;
const COUNTED_EVERY_MS = 30_000;

/** The calls that began since midnight where this person is, by how they ended. Operators get everybody's. */
export function useCallsToday() {
  const ask = useAsk();
  const { client } = useSession();
  const cache = useQueryClient();
  useEffect(() => {
    // A page that says that a call waits and counts none would contradict itself.
    const recount = () => void cache.invalidateQueries({ queryKey: callsToday });
    const stops = [client.on("approvals/requested", recount), client.on("approvals/resolved", recount)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [client, cache]);
  return useQuery({
    queryKey: callsToday,
    queryFn: () => ask("audit/count", { filter: { since: new Date(new Date().setHours(0, 0, 0, 0)).toISOString() } }),
    refetchInterval: COUNTED_EVERY_MS,
  });
}
