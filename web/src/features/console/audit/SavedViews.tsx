import { type FormEvent, useState } from "react";
import { Link } from "wouter";
import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import { Field } from "../../../ui/Field.tsx";
import { paths } from "../paths.ts";
import styles from "./SavedViews.module.css";
import { useSavedViews } from "./saved-views.ts";

/** Named views of this browser, and a field that gives a name to the one on screen. */
export function SavedViews({ search }: { readonly search: string }) {
  const { views, save, remove } = useSavedViews();
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
            <li key={view.name} className={styles.view}>
              <Link href={paths.audit + view.search} aria-current={view.search === search ? "true" : undefined}>
                {view.name}
              </Link>
              <Button
                size="small"
                variant="quiet"
                aria-label={t`Remove the view ${view.name}`}
                onClick={() => remove(view.name)}
              >
                {t`Remove`}
              </Button>
            </li>
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
