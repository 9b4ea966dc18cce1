import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import styles from "./FoundBar.module.css";
import type { SearchHits } from "./use-found.ts";

/** Where a search has led to: which of the messages with its words this is, and the ways to the others. */
export function FoundBar({ found: { sought, words, hits, goTo, leave } }: { readonly found: SearchHits }) {
  if (hits.length === 0) return null;
  const at = hits.findIndex(({ key }) => key === sought?.key);
  const button = (to: number, sign: string, name: string) => {
    const hit = hits[(to + hits.length) % hits.length];
    return (
      <Button size="small" variant="quiet" aria-label={name} onClick={() => hit !== undefined && goTo(hit)}>
        <span aria-hidden="true">{sign}</span>
      </Button>
    );
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <div
      className={styles.bar}
      role="group"
      aria-label={t`Found messages`}
      onKeyDown={({ key }) => key === "Escape" && leave()}
    >
      <span className={styles.words} dir="auto">
        {words.join(" ")}
      </span>
      <span className={styles.place} role="status">
        {at < 0 ? t`${hits.length} {message|messages}` : t`Message ${at + 1} of ${hits.length}`}
      </span>
      {hits.length > 1 && button(Math.max(at, 0) - 1, "↑", t`Message before`)}
      {hits.length > 1 && button(at + 1, "↓", t`Message after`)}
      <Button size="small" variant="quiet" onClick={leave}>
        {t`Close search`}
      </Button>
    </div>
  );
}
