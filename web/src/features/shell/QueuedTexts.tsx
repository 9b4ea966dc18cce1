import { t } from "../../language/t.ts";
import { Button } from "../../ui/Button.tsx";
import { Tag } from "../../ui/Tag.tsx";
import styles from "./QueuedTexts.module.css";
import type { Workspace } from "./workspace.ts";
import type { WorkspaceState } from "./workspace-state.ts";

/** What was written while an answer is under way, in the order in which it is sent. */
export function QueuedTexts({ workspace, state }: { readonly workspace: Workspace; readonly state: WorkspaceState }) {
  const { queue, steering, busy } = state;
  const { line } = workspace;
  return (
    <section className={styles.queue} aria-label={t`Next in line`}>
      <div className={styles.head}>
        <span>{busy ? headOf(queue, steering) : t`Not sent, because the answer before was interrupted:`}</span>
        {!busy && (
          <Button size="small" variant="primary" onClick={() => void line.sendNext(null)}>
            {t`Go on with these`}
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
            {busy && place < steering && <Tag tone="accent">{t`Before the next step`}</Tag>}
            {busy && place >= steering && !text.startsWith("/") && (
              <Button size="small" variant="quiet" onClick={() => line.steer(place)}>
                {t`Take in now`}
                <span className="visually-hidden"> {text}</span>
              </Button>
            )}
            <Button size="small" variant="quiet" onClick={() => line.edit(place)}>
              {t`Edit`}
              <span className="visually-hidden"> {text}</span>
            </Button>
            <Button size="small" variant="quiet" onClick={() => line.remove(place)}>
              {t`Remove`}
              <span className="visually-hidden"> {text}</span>
            </Button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function headOf(queue: readonly string[], steering: number): string {
  if (steering === 0) return t`Sent when this answer is complete:`;
  return steering === queue.length ? t`Taken in before the next step:` : t`Next in line:`;
}
