import { lazy, useCallback, useEffect, useRef, useState } from "react";
import { waitingCalls } from "../../agent/conversation.ts";
import { t } from "../../language/t.ts";
import type { SessionDescription } from "../../protocol/generated.ts";
import { Spinner } from "../../ui/Spinner.tsx";
import { ApprovalDock } from "./ApprovalDock.tsx";
import { Composer } from "./Composer.tsx";
import { ConversationSidebar } from "./ConversationSidebar.tsx";
import styles from "./ConversationView.module.css";
import { Header } from "./Header.tsx";
import { Later } from "./Later.tsx";
import { ModelLine } from "./ModelLine.tsx";
import { OfferNotifications } from "./OfferNotifications.tsx";
import { StatusBanners } from "./StatusBanners.tsx";
import { useKeptFocus, usePanes } from "./use-panes.ts";
import { Welcome } from "./Welcome.tsx";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

// What is needed only once there is something to show: reading Markdown is a good part of this program.
const loadLog = async () => ({ default: (await import("./log/Log.tsx")).Log });
const Log = lazy(loadLog);
const BranchComparison = lazy(async () => ({
  default: (await import("./compare/BranchComparison.tsx")).BranchComparison,
}));
const GrantsDialog = lazy(async () => ({ default: (await import("./GrantsDialog.tsx")).GrantsDialog }));
const QueuedTexts = lazy(async () => ({ default: (await import("./QueuedTexts.tsx")).QueuedTexts }));
const SettingsDialog = lazy(async () => ({ default: (await import("./SettingsDialog.tsx")).SettingsDialog }));

export interface ConversationViewProps {
  readonly workspace: Workspace;
  readonly state: WorkspaceState;
  readonly session: SessionDescription;
}

/** The page of someone who is signed in: the list of conversations at the side, the current one in the middle. */
export function ConversationView({ workspace, state, session }: ConversationViewProps) {
  const root = useRef<HTMLDivElement>(null);
  const [listOpen, setListOpen] = useState(false);
  const [grantsOpen, setGrantsOpen] = useState(false);
  const [settingsOpen, setSettingsOpen] = useState(false);
  const [compared, setCompared] = useState<string | null>(null);
  const { grantsAsked } = state;
  useEffect(() => {
    if (grantsAsked > 0) setGrantsOpen(true);
  }, [grantsAsked]);
  const leaveComparison = useCallback(() => setCompared(null), []);
  const forked = compared === null ? null : workspace.branchesAt(compared);
  usePanes(root);
  useKeptFocus(root);
  const { whenIdle } = workspace.environment;
  useEffect(() => whenIdle(() => void loadLog().catch(() => undefined)), [whenIdle]);
  const waiting = waitingCalls(state.log);
  const isEmpty = state.log.entries.length === 0 && !state.loading && !state.busy;
  return (
    <div ref={root} className={styles.page}>
      <ConversationSidebar workspace={workspace} state={state} open={listOpen} onClose={() => setListOpen(false)} />
      <main className={styles.main}>
        <Header
          workspace={workspace}
          state={state}
          session={session}
          onShowList={() => setListOpen(true)}
          onShowGrants={() => setGrantsOpen(true)}
          onShowSettings={() => setSettingsOpen(true)}
        />
        <StatusBanners workspace={workspace} state={state} />
        {isEmpty ? (
          <Welcome
            name={session.session.principalName}
            kept={workspace.environment.kept}
            onChoose={(text) => void workspace.submit(text)}
          />
        ) : (
          <Later state={state} fallback={<Spinner label={t`Opening the conversation`} />}>
            <Log
              key={state.currentId}
              view={state.log}
              place={state.place}
              label={state.title || t`Conversation`}
              busy={state.busy}
              sendKey={state.settings.sendKey}
              figures={state.figures}
              whenIdle={whenIdle}
              onCancelCall={(callId) => void workspace.cancelCall(callId)}
              onAskAgain={(turnId, text) => void workspace.askInBranch(turnId, text)}
              branchesAt={(turnId) => workspace.branchesAt(turnId)}
              onCallAgain={({ name, arguments: given }) =>
                void workspace.submit(`/call ${name} ${JSON.stringify(given)}`)
              }
              onSend={(text) => void workspace.submit(text)}
              onOpenBranch={(id) => void workspace.open(id)}
              onCompare={setCompared}
            />
          </Later>
        )}
        {settingsOpen && (
          <Later state={state}>
            <SettingsDialog
              settings={state.settings}
              models={session.models}
              onChange={(settings) => workspace.changeSettings(settings)}
              onClose={() => setSettingsOpen(false)}
            />
          </Later>
        )}
        {forked !== null && compared !== null && (
          <Later state={state}>
            <BranchComparison
              workspace={workspace}
              branches={forked}
              place={state.log.turnIds.indexOf(compared)}
              onClose={leaveComparison}
            />
          </Later>
        )}
        {grantsOpen && (
          <Later state={state}>
            <GrantsDialog workspace={workspace} grants={state.grants} onClose={() => setGrantsOpen(false)} />
          </Later>
        )}
        <ApprovalDock workspace={workspace} state={state} cards={waiting} />
        {waiting.length > 0 && <OfferNotifications notifier={workspace.environment.notifier} />}
        {state.queue.length > 0 && (
          <Later state={state}>
            <QueuedTexts workspace={workspace} state={state} />
          </Later>
        )}
        <Composer workspace={workspace} state={state} />
        <ModelLine workspace={workspace} state={state} session={session} />
      </main>
    </div>
  );
}
