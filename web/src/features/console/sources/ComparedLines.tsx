import { t } from "../../../language/t.ts";
import { classes } from "../../../ui/classes.ts";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import styles from "./ComparedLines.module.css";
import type { ComparedLine } from "./difference.ts";

interface ComparedLinesProps {
  readonly lines: readonly ComparedLine[];
  readonly label: string;
}

/** Two texts line by line, what was and what is now. */
export function ComparedLines({ lines, label }: ComparedLinesProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <ol className={styles.lines} tabIndex={0} aria-label={label}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one comparison never move
        <Line key={index} line={line} />
      ))}
    </ol>
  );
}

const MARKS = { same: " ", removed: "−", added: "+" } as const;
const WORDS = { same: "", removed: "was: ", added: t`is now: ` } as const;

function Line({ line: { mark, text } }: { readonly line: ComparedLine }) {
  // How far a line is set in can be seen; spaces anywhere else are spelt out where they could deceive.
  const indent = /^ */.exec(text)?.[0] ?? "";
  const rest = text.slice(indent.length);
  return (
    <li className={classes(styles.line, styles[mark])}>
      <span aria-hidden="true" className={styles.mark}>
        {MARKS[mark]}
      </span>
      <span className="visually-hidden">{WORDS[mark]}</span>
      <span className={styles.text}>
        {indent}
        {rest === "" ? <span className="note">{t`empty line`}</span> : <VisibleText text={rest} fold={false} />}
      </span>
    </li>
  );
}
