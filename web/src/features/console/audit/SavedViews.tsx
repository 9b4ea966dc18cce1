import { type FormEvent, useState } from "react";
import { Link } from "wouter";
import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import { Field } from "../../../ui/Field.tsx";
import { paths } from "../paths.ts";
import styles from "./SavedViews.module.css";
import { type SavedView, useSavedViews } from "./saved-views.ts";

/** Named views of this browser, and a field that gives a name to the one on screen. */
export function SavedViews({ search }: { readonly search: string }) {
  const { views, save, remove, rename } = useSavedViews();
  const [name, setName] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    save(name, search);
    setName("");
  };
  return (
    <details className={styles.saved}>
      <summary>
        {t`Saved views`}
        {views.length > 0 && ` (${views.length})`}
      </summary>
      <div className="stack">
        {views.length === 0 && <p className="note">{t`None yet. They are kept in this browser.`}</p>}
        <ul className={styles.list}>
          {views.map((view) => (
            <ViewRow
              key={view.name}
              view={view}
              current={view.search === search}
              taken={(wanted) => views.some((each) => each.name === wanted)}
              onRename={(wanted) => rename(view.name, wanted)}
              onRemove={() => remove(view.name)}
            />
          ))}
        </ul>
        <form className={styles.form} onSubmit={submit}>
          <Field
            label={t`Save this view as`}
            value={name}
            maxLength={60}
            autoComplete="off"
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit">{t`Save`}</Button>
        </form>
      </div>
    </details>
  );
}

interface ViewRowProps {
  readonly view: SavedView;
  readonly current: boolean;
  readonly taken: (name: string) => boolean;
  readonly onRename: (name: string) => void;
  readonly onRemove: () => void;
}

/** A view by its name, or the field that gives it another one. */
function ViewRow({ view, current, taken, onRename, onRemove }: ViewRowProps) {
  const [wanted, setWanted] = useState<string>();
  if (wanted === undefined) {
    return (
      <li className={styles.view}>
        <Link href={paths.audit + view.search} aria-current={current ? "true" : undefined}>
          {view.name}
        </Link>
        <span>
          <Button
            size="small"
            variant="quiet"
            aria-label={t`Rename the view ${view.name}`}
            onClick={() => setWanted(view.name)}
          >
            {t`Rename`}
          </Button>
          <Button size="small" variant="quiet" aria-label={t`Remove the view ${view.name}`} onClick={onRemove}>
            {t`Remove`}
          </Button>
        </span>
      </li>
    );
  }
  const name = wanted.trim();
  const isTaken = name !== view.name && taken(name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name === "" || isTaken) return;
    if (name !== view.name) onRename(name);
    setWanted(undefined);
  };
  return (
    <li>
      <form
        className={styles.form}
        onSubmit={submit}
        onKeyDown={(event) => event.key === "Escape" && setWanted(undefined)}
      >
        <Field
          label={t`New name of the view ${view.name}`}
          value={wanted}
          maxLength={60}
          autoComplete="off"
          autoFocus
          error={isTaken ? t`Another view has this name` : undefined}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
        <Button type="submit">{t`Save`}</Button>
      </form>
    </li>
  );
}
