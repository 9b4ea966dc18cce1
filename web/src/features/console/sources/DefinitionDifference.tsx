import { useMemo } from "react";
import type { SourceTool } from "../../../protocol/generated.ts";
import { classes } from "../../../ui/classes.ts";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import styles from "./DefinitionDifference.module.css";
import { type ComparedLine, compareDefinitions } from "./difference.ts";

/** What a tool was when somebody decided about it, against what it is now. Nothing of a changed text is folded away. */
export function DefinitionDifference({
  decided,
  definition,
}: {
  readonly decided: NonNullable<SourceTool["decided"]>;
  readonly definition: SourceTool["definition"];
}) {
  const changed = useMemo(() => compareDefinitions(decided, definition), [decided, definition]);
  if (changed.length === 0) {
    return (
      <p className="note">
        Its definition is the same, but the source is not: it says another name than before, or it was reached at
        another place. Somebody else may answer now.
      </p>
    );
  }
  return (
    <ul className={styles.members} aria-label="What changed">
      {changed.map(({ name, lines }) => (
        <li key={name}>
          <h4>{nameMember(name)}</h4>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
          <ol className={styles.lines} tabIndex={0} aria-label={`${nameMember(name)}: old and new lines`}>
            {lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one comparison never move
              <Line key={index} line={line} />
            ))}
          </ol>
        </li>
      ))}
    </ul>
  );
}

const MARKS = { same: " ", removed: "−", added: "+" } as const;
const WORDS = { same: "", removed: "was: ", added: "is now: " } as const;

function Line({ line: { mark, text } }: { readonly line: ComparedLine }) {
  return (
    <li className={classes(styles.line, styles[mark])}>
      <span aria-hidden="true" className={styles.mark}>
        {MARKS[mark]}
      </span>
      <span className="visually-hidden">{WORDS[mark]}</span>
      <span>{text === "" ? <span className="note">empty line</span> : <VisibleText text={text} fold={false} />}</span>
    </li>
  );
}

const MEMBERS: Readonly<Record<string, string>> = {
  name: "Own name",
  title: "Title",
  description: "Description",
  paramSchema: "Parameters",
  outputSchema: "Form of results",
  proposed: "Proposed category",
  because: "Reason of the proposal",
  summary: "Summary on approvals",
  effects: "Effects on approvals",
  network: "Reaches the network",
  recovery: "After a crash",
};

/** What a member of a definition is called on the page. */
export function nameMember(name: string): string {
  return MEMBERS[name] ?? name;
}
