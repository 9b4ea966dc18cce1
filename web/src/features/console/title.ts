import { useEffect } from "react";
import { pendingOf, useApprovals } from "./approvals/queries.ts";

/** Names the window after the page, with the number of approvals that wait in front, where a narrow tab still shows it. */
export function useTitle(page: string): void {
  const waiting = pendingOf(useApprovals().data).length;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${page} · Countersign console`;
  }, [page, waiting]);
}
