import { useEffect } from "react";
import { useWaitingCount } from "./waiting-count.ts";

/** Names the window after the page, with the number of what waits in front, where a narrow tab still shows it. */
export function useTitle(page: string): void {
  const waiting = useWaitingCount();
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${page} · Countersign console`;
  }, [page, waiting]);
}
