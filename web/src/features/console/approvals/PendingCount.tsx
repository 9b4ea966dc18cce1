import { t } from "../../../language/t.ts";
import { NavigationCount } from "../NavigationCount.tsx";
import { useWaitingCount } from "../waiting-count.ts";

/** How many approvals and questions of servers wait for this person. */
export function PendingCount() {
  return <NavigationCount value={useWaitingCount()} word={t`waiting`} />;
}
