import { useEffect } from "react";
import type { Approval } from "../../protocol/generated.ts";
import { useApprovals } from "./queries.ts";

/** The approvals that still wait, the one that expires first in front. */
export function waitingIn(approvals: readonly Approval[] | undefined): readonly Approval[] {
  const waiting = (approvals ?? []).filter((approval) => approval.status === "pending");
  return waiting.sort((one, other) => one.expiresAt.localeCompare(other.expiresAt));
}

/** Names the window after the page, with the number of questions that wait in front, where a narrow tab still shows it. */
export function useTitle(page: string): void {
  const waiting = waitingIn(useApprovals().data).length;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${page} · Countersign console`;
  }, [page, waiting]);
}
