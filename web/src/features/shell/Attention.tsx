import { useEffect } from "react";
import { showInIcon, titleWith } from "../../ui/attention.ts";
import type { WorkspaceState } from "./workspace-state.ts";

/** Shows in the tab's name and icon how many questions wait, in whichever conversation. */
export function Attention({ state: { list, title } }: { readonly state: WorkspaceState }) {
  const waiting = (list ?? []).reduce((sum, row) => sum + row.waiting, 0);
  useEffect(() => {
    document.title = titleWith(waiting, title === "" ? "Countersign" : `${title} · Countersign`);
    showInIcon(waiting);
  }, [waiting, title]);
  useEffect(
    () => () => {
      // Without a session nothing waits any more, and no conversation is open.
      document.title = "Countersign";
      showInIcon(0);
    },
    [],
  );
  return null;
}
