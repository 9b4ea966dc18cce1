import { useEffect, useRef } from "react";
import type { AgentEvent } from "../../agent/events.ts";
import { t } from "../../language/t.ts";
import { callSentence } from "../../ui/call-sentence.ts";
import { useAnnounce } from "../../ui/LiveRegion.tsx";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

/** Announces each change once to people who use a screen reader. The log itself is not announced: text would be read twice. */
export function Announcements({ workspace, state }: { readonly workspace: Workspace; readonly state: WorkspaceState }) {
  const announce = useAnnounce();
  useEffect(() => {
    let actions: readonly string[] = [];
    return workspace.onEvent((event) => {
      if (event.type === "turn:begun") actions = [];
      if (event.type === "actions:split") actions = event.actions;
      const sentence = sentenceFor(event, actions);
      if (sentence !== null) announce(sentence);
    });
  }, [workspace, announce]);
  const { files, currentId } = state;
  const attached = useRef({ files, currentId });
  useEffect(() => {
    const { files: earlier, currentId: earlierId } = attached.current;
    attached.current = { files, currentId };
    // A file is taken by dialog, by drop or by paste, and none of them leaves the keyboard where it came to stand.
    const added = files.filter((file) => !earlier.includes(file)).map(({ name }) => name);
    if (currentId === earlierId && added.length > 0) announce(t`Attached: ${added.join(", ")}`);
  }, [files, currentId, announce]);
  const { phase } = state.connection;
  const before = useRef(phase);
  useEffect(() => {
    if (before.current === phase) return;
    if (phase === "lost") announce(t`The connection to the gateway is lost. Trying again.`);
    if (phase === "open" && before.current === "lost") announce(t`Connected again.`);
    before.current = phase;
  }, [phase, announce]);
  return null;
}

function sentenceFor(event: AgentEvent, actions: readonly string[]): string | null {
  switch (event.type) {
    case "turn:begun":
    case "turn:resumed":
      return t`Responding.`;
    case "action:begun":
      return actions.length > 0
        ? t`Step ${event.index + 1} of ${actions.length}: ${actions[event.index] ?? ""}`
        : t`Step ${event.index + 1}.`;
    case "approval:requested":
      return t`Approval needed: ${callSentence(event.approval.summary)}`;
    case "call:closed":
      return event.result.outcome === "ok" ? null : t`A call did not complete.`;
    case "turn:ended":
      return event.ending === "stopped"
        ? t`Stopped.`
        : event.ending === "failed"
          ? t`The answer was interrupted.`
          : t`Complete.`;
    default:
      return null;
  }
}
