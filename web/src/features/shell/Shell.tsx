import { useEffect, useLayoutEffect, useState, useSyncExternalStore } from "react";
import { t } from "../../language/t.ts";
import type { ConnectionState } from "../../protocol/rpc.ts";
import { ErrorBoundary } from "../../ui/ErrorBoundary.tsx";
import { LiveRegion } from "../../ui/LiveRegion.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { applyTheme } from "../../ui/theme.ts";
import { Announcements } from "./Announcements.tsx";
import { Attention } from "./Attention.tsx";
import { ConversationView } from "./ConversationView.tsx";
import styles from "./Shell.module.css";
import { SignedOut } from "./SignedOut.tsx";
import { LOST } from "./StatusBanners.tsx";
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

  const { theme } = state.settings;
  useLayoutEffect(() => applyTheme(theme), [theme]);

  const ended = state.connection.phase === "ended" ? state.connection.reason : null;
  const signsIn = ended === "notSignedIn" && environment.beginsAtOnce;
  useEffect(() => {
    if (signsIn) environment.signIn();
  }, [signsIn, environment]);

  if (signsIn)
    return (
      <main className={styles.notice}>
        <Spinner label={t`Signing in`} />
      </main>
    );
  if (ended !== null) {
    const reason = ended === "notSignedIn" && environment.signInFailed ? "signInFailed" : ended;
    return <SignedOut reason={reason} onSignIn={() => environment.signIn()} />;
  }
  if (state.session === null) return <NotConnected connection={state.connection} />;
  return (
    <LiveRegion>
      <ErrorBoundary what={t`This page`}>
        <Attention state={state} />
        <Announcements workspace={workspace} state={state} />
        <ConversationView workspace={workspace} state={state} session={state.session} />
      </ErrorBoundary>
    </LiveRegion>
  );
}

/** Before there is anything to show. */
function NotConnected({ connection }: { readonly connection: ConnectionState }) {
  if (connection.phase !== "lost")
    return (
      <main className={styles.notice}>
        <Spinner label={t`Connecting`} />
      </main>
    );
  const { title, advice } = LOST[connection.cause];
  return (
    <main className={styles.notice}>
      <Spinner label={t`${title}. Trying again`} />
      {connection.cause === "crowded" && <p>{advice}</p>}
    </main>
  );
}
