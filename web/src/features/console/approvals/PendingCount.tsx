import { NavigationCount } from "../NavigationCount.tsx";
import { pendingOf, useApprovals } from "./queries.ts";

/** How many approvals wait for this person. */
export function PendingCount() {
  return <NavigationCount value={pendingOf(useApprovals().data).length} word="waiting" />;
}
