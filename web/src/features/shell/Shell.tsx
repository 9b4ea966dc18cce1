import { useEffect, useState, useSyncExternalStore } from "react";
import { ErrorBoundary } from "../../ui/ErrorBoundary.tsx";
import { LiveRegion } from "../../ui/LiveRegion.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { Announcements } from "./Announcements.tsx";
import { Desk } from "./Desk.tsx";
import styles from "./Shell.module.css";
import { SignedOut } from "./SignedOut.tsx";
import type { Surroundings } from "./surroundings.ts";
import { Workspace } from "./workspace.ts";

/** The web shell: one conversation with the model on the screen, the others a click away. */
export function Shell({ around }: { readonly around: Surroundings }) {
  const [workspace] = useState(() => new Workspace(around));
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
    return <SignedOut reason={reason === "notSignedIn" && around.signInFailed ? "signInFailed" : reason} />;
  }
  if (state.session === null)
    return (
      <main className={styles.threshold}>
        <Spinner
          label={state.connection.phase === "lost" ? "The gateway does not answer. Trying again" : "Connecting"}
        />
      </main>
    );
  return (
    <LiveRegion>
      <ErrorBoundary what="This page">
        <Announcements workspace={workspace} state={state} />
        <Desk workspace={workspace} state={state} session={state.session} />
      </ErrorBoundary>
    </LiveRegion>
  );
}
