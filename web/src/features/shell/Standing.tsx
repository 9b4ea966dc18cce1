import { Banner } from "../../ui/Banner.tsx";
import { Button } from "../../ui/Button.tsx";
import { Markdown } from "./log/Markdown.tsx";
import styles from "./Standing.module.css";
import type { Workspace, WorkspaceState } from "./workspace.ts";

/** How things stand, where that is not as it should be: calm, and with what can be done about it. */
export function Standing({ workspace, state }: { readonly workspace: Workspace; readonly state: WorkspaceState }) {
  const { connection, view, leftOpen, fault } = state;
  return (
    <div className={styles.standing}>
      {connection.phase === "lost" && (
        <Banner tone="waiting" title="The gateway does not answer">
          <p>Nothing is lost: what runs there goes on for a while, and this page tries to come back to it.</p>
          <div>
            <Button size="small" onClick={() => workspace.retryNow()}>
              Try now
            </Button>
          </div>
        </Banner>
      )}
      {view.activity.kind === "modelAwaited" && (
        <Banner tone="info" title={MODEL[view.activity.state ?? ""] ?? "The model is not ready yet"}>
          <p>Your message waits for it. You can stop waiting at any time.</p>
        </Banner>
      )}
      {leftOpen !== null && (
        <Banner
          tone="waiting"
          title={leftOpen.elsewhere ? "This conversation is open in another tab" : "This answer was interrupted"}
        >
          <div className={styles.actions}>
            <Button size="small" variant="primary" onClick={() => void workspace.goOn()}>
              {leftOpen.elsewhere ? "Continue here" : "Continue"}
            </Button>
            <Button size="small" onClick={() => void workspace.letGo()}>
              {leftOpen.elsewhere ? "Leave it there" : "End it"}
            </Button>
          </div>
        </Banner>
      )}
      {fault !== null && (
        <Banner tone="danger" urgent>
          <div className={styles.fault}>
            <Markdown text={fault} />
            <Button size="small" variant="quiet" onClick={() => workspace.dismissFault()}>
              Dismiss
            </Button>
          </div>
        </Banner>
      )}
    </div>
  );
}

const MODEL: Readonly<Record<string, string>> = {
  starting: "The model is starting",
  crashed: "The model stopped and is being started again",
  stopped: "The model was unloaded and is being loaded again",
};
