import { Button } from "../../ui/Button.tsx";
import styles from "./QueuedTexts.module.css";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

/** What was written while an answer is under way, in the order in which it is sent. */
export function QueuedTexts({ workspace, state }: { readonly workspace: Workspace; readonly state: WorkspaceState }) {
  const { queue, busy } = state;
  if (queue.length === 0) return null;
  return (
    <section className={styles.queue} aria-label="Next in line">
      <div className={styles.head}>
        <span>
          {busy ? "Sent when this answer is complete:" : "Not sent, because the answer before was interrupted:"}
        </span>
        {!busy && (
          <Button size="small" variant="primary" onClick={() => void workspace.sendQueued()}>
            Go on with these
          </Button>
        )}
      </div>
      <ol className={styles.texts}>
        {queue.map((text, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text may stand in line twice, and its place is what it is known by
          <li key={place} className={styles.row}>
            <span className={styles.text} dir="auto">
              {text}
            </span>
            <Button size="small" variant="quiet" onClick={() => workspace.editQueued(place)}>
              Edit<span className="visually-hidden"> {text}</span>
            </Button>
            <Button size="small" variant="quiet" onClick={() => workspace.removeQueued(place)}>
              Remove<span className="visually-hidden"> {text}</span>
            </Button>
          </li>
        ))}
      </ol>
    </section>
  );
}
