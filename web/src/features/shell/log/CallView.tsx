import { useMemo } from "react";
import type { CallCard } from "../../../agent/conversation.ts";
import type { Observation } from "../../../agent/messages.ts";
import { JsonView } from "../../../ui/JsonView.tsx";
import { KeyValue } from "../../../ui/KeyValue.tsx";
import { OutsideText } from "../../../ui/OutsideText.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import styles from "./CallView.module.css";
import { stateOf, whyNot } from "./call-words.ts";
import { Markdown } from "./Markdown.tsx";
import { type ProgramOutput, readProgramOutput } from "./program-output.ts";

/** One tool call, keyed by its id: what is asked of which tool, where it stands, and what came of it. */
export function CallView({ card }: { readonly card: CallCard }) {
  const { call, tool, progress, result } = card;
  const { word, tone } = stateOf(card);
  const why = whyNot(card);
  return (
    <article className={styles.call} data-tone={tone} aria-label={`${call.name}: ${word}`}>
      <header className={styles.head}>
        <span className={styles.name}>
          <code>{call.name}</code>
          {tool?.title !== undefined && <span className={styles.title}>{tool.title}</span>}
        </span>
        <Tag tone={tone}>
          {word === "Running" && <Spinner />} {word}
        </Tag>
      </header>
      <Gist card={card} />
      {result === undefined && progress !== undefined && (
        <p className={styles.progress}>
          {progress.fraction !== undefined && <progress max={1} value={progress.fraction} aria-label="Progress" />}
          <OutsideText text={progress.message} />
        </p>
      )}
      {why !== null && <Markdown text={why} />}
      <details className={styles.fold}>
        <summary>Arguments</summary>
        <Arguments given={call.arguments} />
      </details>
      {result !== undefined && result.content !== "" && <ResultView tool={call.name} result={result} />}
    </article>
  );
}

function ResultView({ tool, result }: { readonly tool: string; readonly result: Observation }) {
  const output = useMemo(() => readProgramOutput(tool, result.content), [tool, result.content]);
  return (
    <details className={styles.fold} open={result.outcome === "ok" && isShort(result.content)}>
      <summary>
        Result
        {output !== null && (
          <span className={styles.note}>
            {` · exit code ${output.exitCode} · ${output.seconds.toLocaleString("en", { maximumFractionDigits: 2 })} s`}
          </span>
        )}
        {result.trust === "untrusted" && <span className={styles.note}> · from outside, not verified</span>}
        {result.truncated && <span className={styles.note}> · shortened</span>}
      </summary>
      {output === null ? <Output text={result.content} /> : <Streams output={output} />}
    </details>
  );
}

/** What a program gave back, and apart from it what it wrote for people. */
function Streams({ output: { stdout, stderr, unreadable } }: { readonly output: ProgramOutput }) {
  const remark = (stream: string) => (unreadable.includes(stream) ? `${stream}, not all of it text` : stream);
  return (
    <>
      {stdout === "" && stderr === "" && <p className={styles.note}>It printed nothing.</p>}
      {unreadable.includes("stdout") && <p className={styles.note}>Output ({remark("stdout")})</p>}
      {stdout !== "" && <Output text={stdout} />}
      {stderr !== "" && <p className={styles.note}>Errors and remarks ({remark("stderr")})</p>}
      {stderr !== "" && <Output text={stderr} />}
    </>
  );
}

function Output({ text }: { readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <pre className={styles.result} tabIndex={0} dir="auto">
      <OutsideText text={text} />
    </pre>
  );
}

/** Short enough to stand open beside what the model says about it. */
function isShort(content: string): boolean {
  return content.length <= 2_000 && content.split("\n").length <= 40;
}

/** The arguments in a line, so that a card says what it is about without being opened. */
function Gist({ card }: { readonly card: CallCard }) {
  const words = Object.entries(card.call.arguments).map(([name, value]) => `${name}: ${shorten(value)}`);
  return words.length === 0 ? null : (
    <p className={styles.gist}>
      <OutsideText text={words.join(" · ")} />
    </p>
  );
}

const GIST_LENGTH = 80;

function shorten(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > GIST_LENGTH ? `${line.slice(0, GIST_LENGTH)}…` : line;
}

export function Arguments({ given }: { readonly given: Readonly<Record<string, unknown>> }) {
  const rows = Object.entries(given).map(([name, value]) => ({
    name,
    term: <VisibleText text={name} />,
    value: <JsonView value={value} />,
  }));
  return rows.length === 0 ? <p className={styles.note}>None.</p> : <KeyValue rows={rows} />;
}
