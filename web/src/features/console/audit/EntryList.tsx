import { useId, useState } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import type { AuditEntry } from "../../../protocol/generated.ts";
import { Button } from "../../../ui/Button.tsx";
import { Digest } from "../../../ui/Digest.tsx";
import { JsonView } from "../../../ui/JsonView.tsx";
import { ExactTime } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { paths } from "../paths.ts";
import styles from "./EntryList.module.css";
import { ExplainLink } from "./ExplainLink.tsx";
import { readableBody, summarize } from "./entry.ts";

/** A table where there is room and a list of cards where there is not; each row can be opened to show the whole entry. */
export function EntryList({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <table className={styles.table}>
      <caption className="visually-hidden">{t`Audit entries, newest first`}</caption>
      <thead>
        <tr>
          <th scope="col">{t`Time`}</th>
          <th scope="col">{t`Event`}</th>
          <th scope="col">{t`Tool`}</th>
          <th scope="col">{t`Outcome`}</th>
          <th scope="col">{t`Decision`}</th>
          <th scope="col">
            <span className="visually-hidden">{t`Details`}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <EntryRows key={entry.index} entry={entry} />
        ))}
      </tbody>
    </table>
  );
}

function EntryRows({ entry }: { readonly entry: AuditEntry }) {
  const [open, setOpen] = useState(false);
  const details = useId();
  const summary = summarize(entry);
  return (
    <>
      <tr className={styles.row}>
        <td className={styles.time}>
          <ExactTime at={summary.at} />
        </td>
        <td className={styles.event}>
          <VisibleText text={summary.event} prose />
        </td>
        <Cell name={t`Tool`} text={summary.tool} className={styles.tool} />
        <Cell name={t`Outcome`} text={summary.outcome} />
        <Cell name={t`Decision`} text={summary.decision} />
        <td className={styles.more}>
          <Button
            size="small"
            variant="quiet"
            aria-expanded={open}
            aria-controls={details}
            aria-label={t`Entry #${String(entry.index)}`}
            onClick={() => setOpen(!open)}
          >
            #{entry.index}
          </Button>
        </td>
      </tr>
      <tr id={details} hidden={!open}>
        <td colSpan={6} className={styles.details}>
          {open && <Details entry={entry} />}
        </td>
      </tr>
    </>
  );
}

interface CellProps {
  readonly name: string;
  readonly text: string | undefined;
  readonly className?: string | undefined;
}

function Cell({ name, text, className }: CellProps) {
  if (text === undefined) return <td className={styles.none} />;
  return (
    <td className={className}>
      <span className={styles.name}>{name}: </span>
      <VisibleText text={text} prose />
    </td>
  );
}

/** The receipt of the call that an entry closes: a file for somebody who has no access to this log. */
function ReceiptLink({ entry: { body } }: { readonly entry: AuditEntry }) {
  const { event, conversationId, callId } = body;
  const closes = event === "call:closed" || event === "call:found-unknown";
  if (!closes || typeof conversationId !== "string" || typeof callId !== "string") return null;
  return (
    <p>
      <a href={paths.receipt(conversationId, callId)} download={`receipt-${callId}.json`}>
        {t`Download the receipt`}
      </a>{" "}
      <span className="note">
        {rich`It shows this call to somebody who has no access to this log: ${<code>countersign audit verify FILE</code>} checks it, and so does ${(
          inner,
        ) => (
          <a href={paths.verifier} download="verify.html">
            {inner}
          </a>
        )}<verify.html>. It holds what is kept of the call's arguments and result.`}
      </span>
    </p>
  );
}

function Details({ entry }: { readonly entry: AuditEntry }) {
  return (
    <div className="stack">
      <ExplainLink conversationId={entry.body.conversationId} callId={entry.body.callId} />
      <ReceiptLink entry={entry} />
      <section>
        <h2>{t`Entry`}</h2>
        <JsonView value={readableBody(entry.body)} openTo={1} />
        <details>
          <summary>{t`As it is recorded`}</summary>
          <JsonView value={entry.body} openTo={1} />
        </details>
      </section>
      <section>
        <h2>{t`Content`}</h2>
        {entry.payload === undefined ? (
          <p className="note">
            {typeof entry.body.payload === "string"
              ? t`It is not kept any more. The entry and every proof stay valid without it.`
              : t`There is none: everything that was recorded stands in the entry.`}
          </p>
        ) : (
          <JsonView value={entry.payload} openTo={1} />
        )}
      </section>
      <section>
        <h2>{t`Hash`}</h2>
        <Digest value={entry.hash} what={t`hash`} />
      </section>
    </div>
  );
}
