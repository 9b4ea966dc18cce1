import { groupPlans } from "./approvals/plan.ts";
import { useWaiting } from "./approvals/queries.ts";
import { useElicitations } from "./elicitations/queries.ts";

/** How much waits for this person: approvals, those of a plan as one, and what the servers of tools ask. */
export function useWaitingCount(): number {
  const approvals = useWaiting().mine;
  const asked = useElicitations().data ?? [];
  return groupPlans(approvals).length + asked.length;
}
