import { t } from "../../../language/t.ts";
import type { ApprovalQuestion } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { callSentence } from "../../../ui/call-sentence.ts";
import { classes } from "../../../ui/classes.ts";
import { byteCount } from "../../../ui/durations.ts";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import styles from "./PreviewView.module.css";

type Preview = NonNullable<ApprovalQuestion["preview"]>;

/** What the call would change as things are now, or send: made by the gateway when the page was opened, and no part of what is signed. */
export function PreviewView({ preview }: { readonly preview: Preview }) {
  if (preview.change === "impossible") {
    return (
      <Banner tone="danger" title={t`This could not work any more`}>
        <p>
          <VisibleText text={callSentence(preview.obstacle ?? "")} prose />
        </p>
      </Banner>
    );
  }
  const sent = preview.change === "send";
  return (
    <div className={styles.preview}>
      <Description preview={preview} />
      {preview.lines.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
        <ol className={styles.lines} tabIndex={0} aria-label={sent ? t`What is sent` : t`Lines that change`}>
          {preview.lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one comparison never move
            <Line key={index} line={line} />
          ))}
        </ol>
      )}
      {!preview.complete && (
        <p className="note">
          {preview.lines.length > 0
            ? t`More of it is not shown here.`
            : t`It is no text, or too long to be shown here.`}
        </p>
      )}
    </div>
  );
}

const MARKS = { same: " ", removed: "−", added: "+", skipped: "⋯" } as const;
const WORDS = { same: "", removed: t`removed: `, added: t`added: `, skipped: "" } as const;

function Line({ line }: { readonly line: Preview["lines"][number] }) {
  return (
    <li className={classes(styles.line, styles[line.mark])}>
      <span aria-hidden="true" className={styles.mark}>
        {MARKS[line.mark]}
      </span>
      <span className="visually-hidden">{WORDS[line.mark]}</span>
      {line.mark === "skipped" ? (
        <span className="note">{t`${line.count} lines stay`}</span>
      ) : (
        line.text !== "" && <VisibleText text={line.text} fold={false} />
      )}
    </li>
  );
}

/** What has neither size is no file, and `target` says how much of what is changed: "3 rows of orders". */
function Description({ preview }: { readonly preview: Preview }) {
  const words =
    preview.bytesBefore === undefined && preview.bytesAfter === undefined ? describeOther(preview.change) : undefined;
  if (words === undefined) {
    return <p>{describe(preview)}</p>;
  }
  return (
    <p>
      {words}{" "}
      <strong>
        <VisibleText text={preview.target} />
      </strong>
    </p>
  );
}

function describeOther(change: Preview["change"]): string | undefined {
  switch (change) {
    case "create":
      return t`As things are now this adds:`;
    case "replace":
      return t`As things are now this changes:`;
    case "delete":
      return t`As things are now this deletes:`;
    case "keep":
      return t`As things are now this changes nothing:`;
    default:
      return undefined;
  }
}

function describe({ change, bytesBefore = 0, bytesAfter = 0 }: Preview): string {
  switch (change) {
    case "create":
      return t`There is no such file yet. It will have ${byteCount(bytesAfter)}.`;
    case "replace":
      return t`The file that is there now has ${byteCount(bytesBefore)} and is replaced by one of ${byteCount(bytesAfter)}.`;
    case "keep":
      return t`The file that is there now holds exactly this already, ${byteCount(bytesBefore)}.`;
    case "move":
      return t`The file that is there now has ${byteCount(bytesBefore)} and gets another name:`;
    case "make":
      return t`There is no such folder yet. It is made, empty.`;
    case "send":
      return bytesAfter > 0
        ? t`This is sent, with a body of ${byteCount(bytesAfter)}:`
        : t`This is sent, without a body:`;
    default:
      return t`The file that is there now has ${byteCount(bytesBefore)} and is removed.`;
  }
}
