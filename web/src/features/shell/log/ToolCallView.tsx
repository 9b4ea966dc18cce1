import { useMemo } from "react";
import { ATTACHER, withoutBytes } from "../../../agent/attached.ts";
import type { CallCard, CallProgress } from "../../../agent/conversation.ts";
import type { Observation } from "../../../agent/messages.ts";
import { language } from "../../../language/language.ts";
import { t } from "../../../language/t.ts";
import type { Attachment, ToolCall } from "../../../protocol/generated.ts";
import { Button } from "../../../ui/Button.tsx";
import { Countdown } from "../../../ui/Countdown.tsx";
import { byteCount, shortDuration } from "../../../ui/durations.ts";
import { ExternalText } from "../../../ui/ExternalText.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { Arguments } from "../Arguments.tsx";
import { isForeign } from "../foreign.ts";
import { explainFailedCall, isUnderWay, stateOf } from "./call-labels.ts";
import { Markdown } from "./Markdown.tsx";
import { type ProgramOutput, readProgramOutput } from "./program-output.ts";
import styles from "./ToolCallView.module.css";

export interface ToolCallProps {
  readonly card: CallCard;
  /** Several calls wait, and their tool alone does not say which one this is. */
  readonly amongSeveral?: boolean;
  /** It waits, and the dock asks about another one first. */
  readonly behindAnother?: boolean;
  /** It stands behind a call that waits for a person, and has not begun. */
  readonly held?: boolean;
  /** The person made it, and no model says what came of it: the result is the answer. */
  readonly own?: boolean;
  /** Cancels this call alone; the turn goes on with that. */
  readonly onCancel: (callId: string) => void;
}

/**
 * One tool call, keyed by its id: tool, arguments, state and result. What is over is a line of the log that opens, and needs no
 * card. What waits is a line that points to the dock, so that a question stands in one place.
 */
export function ToolCallView(props: ToolCallProps) {
  const { card, amongSeveral = false, behindAnother = false, held = false, own = false, onCancel } = props;
  const { tool, progress, result } = card;
  const call = withoutBytes(card.call);
  const { label, tone } = stateOf(card, held);
  const sent = isUnderWay(card);
  const explanation = explainFailedCall(card);
  const waits = result === undefined && card.phase === "waiting";
  const isOver = result !== undefined && explanation === null;
  const given = !waits && !isSummedUp(call.arguments) && <GivenArguments given={call.arguments} />;
  const came = result !== undefined && result.content !== "" && result.outcome !== "deniedByUser" && (
    <ResultView tool={call.name} result={result} />
  );
  const name = (
    <span className={styles.name}>
      <code>{call.name}</code>
      {tool?.title !== undefined && <span className={styles.title}>{tool.title}</span>}
      {(!waits || amongSeveral) && <ArgumentSummary given={call.arguments} />}
    </span>
  );
  const state = (
    <span className={styles.state}>
      <Tag tone={tone}>
        {sent && !held && <Spinner />} {label}
      </Tag>
      {result?.outcome === "ok" && result.durationMs !== undefined && (
        <span className={styles.took}>{shortDuration(result.durationMs)}</span>
      )}
      {card.phase === "waiting" && card.approval !== undefined && (
        <Countdown until={card.approval.expiresAt} label={t`Expires in`} />
      )}
      {sent && (
        <span className={styles.cancel}>
          <Button
            size="small"
            variant="quiet"
            aria-label={t`Cancel call of ${call.name}`}
            onClick={() => onCancel(call.id)}
          >
            {t`Cancel call`}
          </Button>
        </span>
      )}
    </span>
  );
  return (
    <article className={styles.call} data-tone={tone} data-line={waits || isOver} aria-label={`${call.name}: ${label}`}>
      {isOver && (given || came) ? (
        <details className={styles.over} open={own && result.outcome === "ok"}>
          <summary className={styles.head}>
            {name}
            {state}
          </summary>
          {given}
          {came}
        </details>
      ) : (
        <header className={styles.head}>
          {name}
          {state}
        </header>
      )}
      {waits && !behindAnother && (
        <p className={styles.note}>{t`The question stands below, above the message field.`}</p>
      )}
      {result === undefined && progress !== undefined && <Underway progress={progress} />}
      {result !== undefined && result.outcome !== "ok" && progress !== undefined && progress.lines.length > 0 && (
        <details className={styles.fold} open>
          <summary>{t`What it said before it ended`}</summary>
          <Output label={t`What it said before it ended`} text={progress.lines.join("\n")} />
        </details>
      )}
      {explanation !== null && <Markdown {...explanation} />}
      {!isOver && given}
      {!isOver && came}
      {result?.attachments !== undefined && <AttachmentList call={call} attachments={result.attachments} />}
    </article>
  );
}

function GivenArguments({ given }: { readonly given: CallArguments }) {
  return (
    <details className={styles.fold}>
      <summary>{t`Arguments`}</summary>
      <Arguments given={given} />
    </details>
  );
}

/** How far a call is, and what it has said so far. */
function Underway({ progress: { fraction, lines } }: { readonly progress: CallProgress }) {
  const earlier = lines.slice(0, -1);
  return (
    <>
      {earlier.length > 0 && (
        <details className={styles.fold}>
          <summary>{t`Output so far`}</summary>
          <Output label={t`Output so far`} text={earlier.join("\n")} />
        </details>
      )}
      <div className={styles.progress}>
        {fraction !== undefined && (
          <>
            <progress max={1} value={fraction} aria-label={t`Progress`} />
            <span>{Math.floor(fraction * 100)} %</span>
          </>
        )}
        <span className={styles.line} dir="auto">
          <ExternalText text={lines.at(-1) ?? ""} />
        </span>
      </div>
    </>
  );
}

interface AttachmentListProps {
  readonly call: ToolCall;
  readonly attachments: readonly Attachment[];
}

/** What came with the result beside its text: images of the kinds that the gateway knows, and files to be saved. */
function AttachmentList({ call, attachments }: AttachmentListProps) {
  const { name } = call.arguments;
  const isOwn = call.name === ATTACHER && typeof name === "string";
  return (
    <ul className={styles.attachments} aria-label={isOwn ? t`What you attached` : t`What came with the result`}>
      {attachments.map(({ id, mediaType, bytes }) => (
        <li key={id}>
          {mediaType === "application/octet-stream" ? (
            <a href={`/attachments/${id}`} download>
              {t`Save a file of ${byteCount(bytes)}`}
            </a>
          ) : (
            <a href={`/attachments/${id}`} target="_blank" rel="noreferrer">
              <img
                src={`/attachments/${id}`}
                alt={isOwn ? t`${name}, which you attached` : t`From ${call.name}, ${byteCount(bytes)}, not described`}
                loading="lazy"
              />
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function ResultView({ tool, result }: { readonly tool: string; readonly result: Observation }) {
  const output = useMemo(() => readProgramOutput(tool, result.content), [tool, result.content]);
  return (
    <details className={styles.fold} open={result.outcome === "ok"}>
      <summary>
        {t`Result`}
        {output !== null && (
          <span className={styles.note}>
            {t` · exit code ${output.exitCode} · ${output.seconds.toLocaleString(language, { maximumFractionDigits: 2 })} s`}
          </span>
        )}
        {result.truncated && <span className={styles.note}> {t`· shortened`}</span>}
        {isForeign(result) && (
          <>
            {" "}
            <Tag tone="waiting">{t`from outside, not verified`}</Tag>
          </>
        )}
      </summary>
      {output === null ? <Output label={t`Result`} text={result.content} /> : <Streams output={output} />}
    </details>
  );
}

/** A program's standard output and, apart from it, its error output. */
function Streams({ output: { stdout, stderr, unreadable } }: { readonly output: ProgramOutput }) {
  const nameOf = (stream: string) => (unreadable.includes(stream) ? t`${stream}, not all of it text` : stream);
  return (
    <>
      {stdout === "" && stderr === "" && <p className={styles.note}>{t`It printed nothing.`}</p>}
      {unreadable.includes("stdout") && <p className={styles.note}>{t`Output (${nameOf("stdout")})`}</p>}
      {stdout !== "" && <Output label={t`Output`} text={stdout} />}
      {stderr !== "" && <p className={styles.note}>{t`Error output (${nameOf("stderr")})`}</p>}
      {stderr !== "" && <Output label={t`Error output`} text={stderr} />}
    </>
  );
}

function Output({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is a part of a form
    <pre className={styles.result} role="group" aria-label={label} tabIndex={0} dir="auto">
      <ExternalText text={text} />
    </pre>
  );
}

/** The arguments in a line, so that a call says what it is about without being opened. */
function ArgumentSummary({ given }: { readonly given: CallArguments }) {
  const summary = summaryOf(given);
  return summary === "" ? null : (
    <span className={styles.summary}>
      <ExternalText text={summary} />
    </span>
  );
}

function summaryOf(given: CallArguments): string {
  return Object.entries(given)
    .map(([name, value]) => `${name}: ${shorten(value)}`)
    .join(" · ");
}

/** Whether that line says all that there is to say about them, and has room for it beside the name and the state. */
function isSummedUp(given: CallArguments): boolean {
  return Object.values(given).every(isSaidWhole) && summaryOf(given).length <= SEEN_WHOLE;
}

/** A text that reads as a value of another type is not: the line says the same of both. */
function isSaidWhole(value: unknown): boolean {
  if (typeof value === "string") return shorten(value) === value && !OTHER_TYPE.test(value);
  return typeof value === "number" || typeof value === "boolean";
}

type CallArguments = CallCard["call"]["arguments"];

const SUMMARY_LENGTH = 80;
const OTHER_TYPE = /^(?:true|false|null|[-+]?[0-9][0-9.]*(?:e[-+]?[0-9]+)?)$/i;
/** Characters of the line that are seen beside the name of a tool and its state. */
const SEEN_WHOLE = 40;

function shorten(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > SUMMARY_LENGTH ? `${line.slice(0, SUMMARY_LENGTH)}…` : line;
}
