import type { Gauge } from "../../agent/conversation.ts";
import { language } from "../../language/language.ts";
import { t } from "../../language/t.ts";
import type { ModelInfo, SessionDescription } from "../../protocol/generated.ts";
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
        <Button variant="quiet" size="small" onClick={onShowList} aria-label={t`Conversations`}>
          <span aria-hidden="true">☰</span>
        </Button>
      </span>
      <h1 className={styles.title} title={state.title || undefined}>
        {state.title || t`New conversation`}
      </h1>
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
        label={t`${session.session.principalName}: account and grants`}
        items={[
          { label: t`Grants`, onSelect: onShowGrants },
          { label: t`Settings`, onSelect: onShowSettings },
          { label: t`Open the console`, onSelect: () => workspace.environment.openConsole(session.consoleOrigin) },
          { label: t`Sign out`, onSelect: () => void workspace.signOut() },
        ]}
      />
    </header>
  );
}

function ModelChoice({ workspace, state, session }: Pick<HeaderProps, "workspace" | "state" | "session">) {
  if (session.models.length <= 1)
    return (
      <span className={styles.model} title={state.model === null ? undefined : describeModel(state.model)}>
        {state.model?.displayName ?? t`No model`}
      </span>
    );
  return (
    <select
      className={styles.select}
      aria-label={t`Model`}
      value={state.model?.id}
      disabled={state.busy}
      onChange={(event) => workspace.chooseModel(event.currentTarget.value)}
    >
      {session.models.map((model) => (
        <option key={model.id} value={model.id}>
          {describeModel(model)}
        </option>
      ))}
    </select>
  );
}

/** A model by name, with where it runs and what is known of what it can do. What nobody measured is not said. */
function describeModel({ displayName, local, seesImages, toolCallRank }: ModelInfo): string {
  return [
    local ? displayName : t`${displayName} (not on this machine)`,
    ...(seesImages ? [t`sees images`] : []),
    ...(toolCallRank === undefined ? [] : [t`does ${toolCallRank} % of the test tasks`]),
  ].join(", ");
}

const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });

/** How much of the model's context the last request took. */
function ContextGauge({ gauge }: { readonly gauge: Gauge }) {
  const { used, limit, exact } = gauge;
  const words = t`${short.format(used)} of ${short.format(limit)}`;
  const spoken = exact
    ? t`${used} of ${limit} tokens of context used`
    : t`about ${used} of ${limit} tokens of context used`;
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
