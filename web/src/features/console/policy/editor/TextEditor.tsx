import { type Ref, useRef } from "react";
import type { PolicyFault } from "../../../../protocol/generated.ts";
import { classes } from "../../../../ui/classes.ts";
import styles from "./Editor.module.css";

interface TextEditorProps {
  readonly name: string;
  readonly text: string;
  readonly faults: readonly PolicyFault[];
  readonly onChange: (text: string) => void;
  readonly ref: Ref<HTMLTextAreaElement>;
}

/** A file of the policy with the numbers of its lines; those with faults are marked. Tab leaves it, as in any form. */
export function TextEditor({ name, text, faults, onChange, ref }: TextEditorProps) {
  const numbers = useRef<HTMLDivElement>(null);
  const faulty = new Map(faults.map(({ line, severity }) => [line, severity]));
  const count = text.split("\n").length;
  return (
    <div className={styles.text}>
      <div ref={numbers} className={styles.numbers} aria-hidden="true">
        {Array.from({ length: count }, (_, index) => index + 1).map((line) => (
          <span key={line} className={classes(styles.number, styles[faulty.get(line) ?? ""])}>
            {line}
          </span>
        ))}
      </div>
      <textarea
        ref={ref}
        className={styles.area}
        aria-label={`Text of ${name}`}
        value={text}
        wrap="off"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
        onScroll={({ currentTarget }) => numbers.current?.scrollTo({ top: currentTarget.scrollTop })}
      />
    </div>
  );
}
