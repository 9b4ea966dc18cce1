import { useId, useState } from "react";
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
      <caption className="visually-hidden">Audit entries, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Event</th>
          <th scope="col">Tool</th>
          <th scope="col">Outcome</th>
          <th scope="col">Decision</th>
          <th scope="col">
            <span className="visually-hidden">Details</span>
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
        <Cell name="Tool" text={summary.tool} />
        <Cell name="Outcome" text={summary.outcome} />
        <Cell name="Decision" text={summary.decision} />
        <td className={styles.more}>
          <Button
            size="small"
            variant="quiet"
            aria-expanded={open}
            aria-controls={details}
            aria-label={`Entry #${entry.index}`}
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

function Cell({ name, text }: { readonly name: string; readonly text: string | undefined }) {
  if (text === undefined) return <td className={styles.none} />;
  return (
    <td>
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
        Download the receipt
      </a>{" "}
      <span className="note">
        It shows this call to somebody who has no access to this log: <code>countersign audit verify FILE</code> checks
        it, and so does{" "}
        <a href={paths.verifier} download="verify.html">
          verify.html
        </a>
        . It holds the call's arguments and result.
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
        <h2>Entry</h2>
        <JsonView value={readableBody(entry.body)} openTo={1} />
        <details>
          <summary>As it is recorded</summary>
          <JsonView value={entry.body} openTo={1} />
        </details>
      </section>
      <section>
        <h2>Payload</h2>
        {entry.payload === undefined ? (
          <p className="note">There is none, or it was erased. The entry and every proof stay valid without it.</p>
        ) : (
          <JsonView value={entry.payload} openTo={1} />
        )}
      </section>
      <section>
        <h2>Leaf hash</h2>
        <Digest value={entry.hash} what="hash" />
      </section>
    </div>
  );
}
