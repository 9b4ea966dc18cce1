import { t } from "../../language/t.ts";
import type { SocketRefusal } from "../../protocol/rpc.ts";
import { Banner } from "../../ui/Banner.tsx";
import { Button } from "../../ui/Button.tsx";
import { WithCode } from "../../ui/WithCode.tsx";
import styles from "./StatusBanners.module.css";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

/** What is not as it should be, and what can be done about it: connection, model, an unfinished turn, a failed action. */
export function StatusBanners({ workspace, state }: { readonly workspace: Workspace; readonly state: WorkspaceState }) {
  const { connection, log, unfinishedTurn, problem } = state;
  return (
    <div className={styles.banners}>
      {connection.phase === "lost" && (
        <Banner tone="waiting" title={LOST[connection.cause].title}>
          <p>{LOST[connection.cause].advice}</p>
          <div>
            <Button size="small" onClick={() => workspace.retryNow()}>
              {t`Try now`}
            </Button>
          </div>
        </Banner>
      )}
      {log.activity.kind === "modelAwaited" && (
        <Banner tone="info" title={MODEL[log.activity.state ?? ""] ?? t`The model is not ready yet`}>
          <p>{t`Your message waits for it. You can stop waiting at any time.`}</p>
        </Banner>
      )}
      {unfinishedTurn !== null && (
        <Banner
          tone="waiting"
          title={
            unfinishedTurn.elsewhere ? t`This conversation is open in another tab` : t`This answer was interrupted`
          }
        >
          <div className={styles.actions}>
            <Button size="small" variant="primary" onClick={() => void workspace.continueTurn()}>
              {unfinishedTurn.elsewhere ? t`Continue here` : t`Continue`}
            </Button>
            <Button size="small" onClick={() => void workspace.discardTurn()}>
              {unfinishedTurn.elsewhere ? t`Leave it there` : t`End it`}
            </Button>
          </div>
        </Banner>
      )}
      {problem !== null && (
        <Banner tone="danger" urgent>
          <div className={styles.problem}>
            <p>
              <WithCode text={problem} />
            </p>
            <Button size="small" variant="quiet" onClick={() => workspace.dismissProblem()}>
              {t`Dismiss`}
            </Button>
          </div>
        </Banner>
      )}
    </div>
  );
}

export const LOST: Readonly<Record<SocketRefusal, { readonly title: string; readonly advice: string }>> = {
  unreachable: {
    title: t`The gateway does not answer`,
    advice: t`It may have been stopped, or be out of reach. What it has recorded is kept, and this page goes on trying.`,
  },
  crowded: {
    title: t`Too many tabs are open`,
    advice: t`The gateway takes no more of them at once. Close some, and this page goes on by itself.`,
  },
};

const MODEL: Readonly<Record<string, string>> = {
  starting: t`The model is starting`,
  crashed: t`The model stopped and is being started again`,
  stopped: t`The model was unloaded and is being loaded again`,
};
