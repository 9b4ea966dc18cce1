import { t } from "../../language/t.ts";
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
        <Button variant="quiet" size="small" onClick={onShowList} aria-label={t`Conversations`}>
          <span aria-hidden="true">☰</span>
        </Button>
      </span>
      <h1 className={styles.title} dir="auto" title={state.title || undefined}>
        {state.title || t`New conversation`}
      </h1>
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
