import type { Gauge } from "../../agent/conversation.ts";
import type { SessionDescription } from "../../protocol/generated.ts";
import { Button } from "../../ui/Button.tsx";
import { Menu } from "../../ui/Menu.tsx";
import styles from "./Header.module.css";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

interface HeaderProps {
  readonly workspace: Workspace;
  readonly state: WorkspaceState;
  readonly session: SessionDescription;
  readonly onShowList: () => void;
  readonly onShowGrants: () => void;
  readonly onShowSettings: () => void;
}

export function Header({ workspace, state, session, onShowList, onShowGrants, onShowSettings }: HeaderProps) {
  return (
    <header className={styles.header}>
      <span className={styles.listButton}>
        <Button variant="quiet" size="small" onClick={onShowList} aria-label="Conversations">
          <span aria-hidden="true">☰</span>
        </Button>
      </span>
      <h1 className={styles.title}>{state.title || "New conversation"}</h1>
      <span className={styles.facts}>
        <ModelChoice workspace={workspace} state={state} session={session} />
        {state.log.gauge !== null && <ContextGauge gauge={state.log.gauge} />}
      </span>
      <Menu
        trigger={
          <>
            <span className={styles.person}>{session.session.principalName}</span> <span aria-hidden="true">▾</span>
          </>
        }
        label={`${session.session.principalName}: account and grants`}
        items={[
          { label: "Grants", onSelect: onShowGrants },
          { label: "Settings", onSelect: onShowSettings },
          { label: "Open the console", onSelect: () => workspace.environment.openConsole(session.consoleOrigin) },
          { label: "Sign out", onSelect: () => void workspace.signOut() },
        ]}
      />
    </header>
  );
}

function ModelChoice({ workspace, state, session }: Pick<HeaderProps, "workspace" | "state" | "session">) {
  if (session.models.length <= 1)
    return (
      <span className={styles.model} title={state.model?.displayName}>
        {state.model?.displayName ?? "No model"}
      </span>
    );
  return (
    <select
      className={styles.select}
      aria-label="Model"
      value={state.model?.id}
      disabled={state.busy}
      onChange={(event) => workspace.chooseModel(event.currentTarget.value)}
    >
      {session.models.map((model) => (
        <option key={model.id} value={model.id}>
          {model.local ? model.displayName : `${model.displayName} (not on this machine)`}
        </option>
      ))}
    </select>
  );
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** How much of the model's context the last request took. */
function ContextGauge({ gauge }: { readonly gauge: Gauge }) {
  const { used, limit, exact } = gauge;
  const words = `${short.format(used)} of ${short.format(limit)}`;
  const spoken = `${exact ? "" : "about "}${used} of ${limit} tokens of context used`;
  return (
    <span className={styles.gauge} title={spoken}>
      <meter min={0} max={limit} high={limit * 0.85} value={Math.min(used, limit)} aria-label={spoken} />
      <span className={styles.words} aria-hidden="true">
        {exact ? "" : "≈ "}
        {words}
      </span>
    </span>
  );
}
