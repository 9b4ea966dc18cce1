import { useEffect } from "react";
import { t } from "../../language/t.ts";
import { showInIcon, titleWith } from "../../ui/attention.ts";
import { useWaitingCount } from "./waiting-count.ts";

/** Names the window after the page, and shows in name and icon how much waits. */
export function useTitle(page: string): void {
  const waiting = useWaitingCount();
  useEffect(() => {
    document.title = titleWith(waiting, t`${page} · Countersign console`);
    showInIcon(waiting);
  }, [page, waiting]);
}
