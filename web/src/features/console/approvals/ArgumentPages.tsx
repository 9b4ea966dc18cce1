import { useEffect, useRef } from "react";
import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import { classes } from "../../../ui/classes.ts";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import styles from "./ArgumentPages.module.css";
import type { ArgumentRow } from "./argument-pages.ts";
import type { Reading } from "./use-reading.ts";

/** The arguments of a call, page by page; `reading` knows which pages have been in sight. */
export function ArgumentPages({ reading }: { readonly reading: Reading }) {
  const { pages, page, turn } = reading;
  const section = useRef<HTMLDivElement>(null);
  const shown = useRef(page);
  useEffect(() => {
    // Whoever turned the page reads on from its top, by eye or by screen reader.
    if (shown.current !== page) section.current?.focus();
    shown.current = page;
  }, [page]);
  const rows = pages[page] ?? [];
  if (pages.length === 1) return <Rows rows={rows} />;
  return (
    <div className={styles.pages}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div
        ref={section}
        role="group"
        tabIndex={-1}
        className={styles.page}
        aria-label={t`Arguments, page ${page + 1} of ${pages.length}`}
      >
        <Rows rows={rows} />
      </div>
      <div className={styles.turn}>
        <Button aria-disabled={page === 0} onClick={() => turn(page - 1)}>
          {t`Previous page`}
        </Button>
        <span>{t`Page ${page + 1} of ${pages.length}`}</span>
        <Button aria-disabled={page === pages.length - 1} onClick={() => turn(page + 1)}>
          {t`Next page`}
        </Button>
      </div>
    </div>
  );
}

function Rows({ rows }: { readonly rows: readonly ArgumentRow[] }) {
  return (
    <KeyValue
      rows={rows.map((row) => ({
        name: JSON.stringify([row.steps, row.part?.number]),
        term: <Steps row={row} />,
        value:
          typeof row.value === "string" && row.part ? (
            <VisibleText text={row.value} fold={false} />
          ) : (
            <JsonView value={row.value} fold={false} />
          ),
      }))}
    />
  );
}

function Steps({ row }: { readonly row: ArgumentRow }) {
  return (
    <>
      {row.steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the way to a value never changes
        <span key={index} className={styles.step}>
          <VisibleText text={step} fold={false} />
        </span>
      ))}
      {row.part && <span className={classes("note", styles.part)}>{t`part ${row.part.number} of ${row.part.of}`}</span>}
    </>
  );
}
