import { useEffect, useState, useSyncExternalStore } from "react";
import { ErrorBoundary } from "../../ui/ErrorBoundary.tsx";
import { LiveRegion } from "../../ui/LiveRegion.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { Announcements } from "./Announcements.tsx";
import { ConversationView } from "./ConversationView.tsx";
import styles from "./Shell.module.css";
import { SignedOut } from "./SignedOut.tsx";
import type { ShellEnvironment } from "./shell-environment.ts";
import { Workspace } from "./workspace.ts";

/** The web shell: one conversation with the model on the screen, the others a click away. */
export function Shell({ environment }: { readonly environment: ShellEnvironment }) {
  const [workspace] = useState(() => new Workspace(environment));
  const state = useSyncExternalStore(workspace.subscribe, workspace.getState);
  useEffect(() => {
    void workspace.start();
    const wake = () => workspace.retryNow();
    window.addEventListener("online", wake);
    document.addEventListener("visibilitychange", wake);
    return () => {
      window.removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      workspace.stop();
    };
  }, [workspace]);

  if (state.connection.phase === "ended") {
    const { reason } = state.connection;
    return <SignedOut reason={reason === "notSignedIn" && environment.signInFailed ? "signInFailed" : reason} />;
  }
  if (state.session === null)
    return (
      <main className={styles.notice}>
        <Spinner
          label={state.connection.phase === "lost" ? "The gateway does not answer. Trying again" : "Connecting"}
        />
      </main>
    );
  return (
    <LiveRegion>
      <ErrorBoundary what="This page">
        <Announcements workspace={workspace} state={state} />
        <ConversationView workspace={workspace} state={state} session={state.session} />
      </ErrorBoundary>
    </LiveRegion>
  );
}
