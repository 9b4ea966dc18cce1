import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { now } from "../../../ui/clock.ts";
import { SelectField } from "../../../ui/Field.tsx";
import { explain } from "../errors.ts";
import { paths } from "../paths.ts";
import { useReadsAll, useSession } from "../session.tsx";
import type { CallsView } from "./calls-view.ts";
import { callFilterOf } from "./calls-view.ts";
import styles from "./ExportCalls.module.css";
import { EXPORT_FORMATS, readExport } from "./export-calls.ts";

type Phase =
  | { readonly kind: "idle" }
  | { readonly kind: "reading"; readonly done: number; readonly total: number }
  | { readonly kind: "saved"; readonly calls: number; readonly name: string }
  | { readonly kind: "failed"; readonly error: unknown };

interface ExportCallsProps {
  readonly view: CallsView;
  /** Not there while it is counted. */
  readonly total: number | undefined;
}

/** What is filtered, as a file for another program. It is read to its end before it is kept, so that none is cut off. */
export function ExportCalls({ view, total }: ExportCallsProps) {
  const { environment, connection } = useSession();
  const readsAll = useReadsAll();
  const [format, setFormat] = useState("csv");
  const [phase, setPhase] = useState<Phase>({ kind: "idle" });
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);
  const connected = connection.phase === "open";
  useEffect(() => {
    // What failed while the gateway was away says nothing any more once it is back.
    if (connected) setPhase((before) => (before.kind === "failed" ? { kind: "idle" } : before));
  }, [connected]);
  const start = async () => {
    const stop = new AbortController();
    running.current = stop;
    setPhase({ kind: "reading", done: 0, total: total ?? 0 });
    try {
      const path = paths.export(format, callFilterOf(view, now()));
      const file = await readExport(await environment.fetchFile(path, stop.signal), (done, all) =>
        setPhase({ kind: "reading", done, total: all }),
      );
      environment.saveFile(file.name, file.content);
      setPhase({ kind: "saved", calls: file.calls, name: file.name });
    } catch (error) {
      setPhase(stop.signal.aborted ? { kind: "idle" } : { kind: "failed", error });
    }
  };
  const calls = (number: number) => t`${number} {call|calls}`;
  return (
    <details className={styles.export}>
      <summary>{total === undefined ? t`Export` : t`Export ${calls(total)}`}</summary>
      <div className="stack">
        <div className={styles.form}>
          <SelectField
            label={t`Format`}
            options={EXPORT_FORMATS}
            value={format}
            onChange={(event) => setFormat(event.currentTarget.value)}
          />
          <Button busy={phase.kind === "reading"} onClick={start}>
            {t`Export`}
          </Button>
          {phase.kind === "reading" && <Button onClick={() => running.current?.abort()}>{t`Stop`}</Button>}
        </div>
        <p className="note">
          {rich`A line or row for each call, with who, what, when and how it was decided, and without arguments and results. It is for reading: what can be checked is a receipt, or ${<code>countersign audit export</code>}.`}{" "}
          {readsAll
            ? rich`Nothing in it is compared with what the log's checkpoints sign; ${(inner) => <Link href={paths.auditRecords}>{inner}</Link>}<Verify the whole log> does that.`
            : t`Nothing in it is compared with what the log's checkpoints sign.`}
        </p>
        {phase.kind === "reading" && (
          <progress
            className={styles.progress}
            aria-label={t`Exported`}
            value={phase.done}
            max={Math.max(phase.total, 1)}
          />
        )}
        <p className="note" role="status">
          {phase.kind === "reading" && t`${phase.done} of ${calls(phase.total)}`}
          {phase.kind === "saved" && t`${calls(phase.calls)} in ${phase.name}`}
        </p>
        {phase.kind === "failed" && <Banner tone="danger" urgent title={explain(phase.error)} />}
      </div>
    </details>
  );
}
