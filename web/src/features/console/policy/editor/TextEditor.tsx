import { type Ref, useImperativeHandle, useRef } from "react";
import { t } from "../../../../language/t.ts";
import type { PolicyFault } from "../../../../protocol/generated.ts";
import { classes } from "../../../../ui/classes.ts";
import styles from "./Editor.module.css";
import { offsetOf } from "./texts.ts";

export interface TextEditorProps {
  readonly name: string;
  readonly text: string;
  readonly faults: readonly PolicyFault[];
  readonly onChange: (text: string) => void;
  readonly ref: Ref<EditorHandle>;
}

/** What the page asks of whichever editor is shown. */
export interface EditorHandle {
  /** Puts the cursor there, and shows the place. Both count from 1. */
  readonly goTo: (line: number, column: number) => void;
}

/** The browser's own field with the numbers of the lines; those with faults are marked. Tab leaves it, as in any form. */
export function TextEditor({ name, text, faults, onChange, ref }: TextEditorProps) {
  const numbers = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => ({
    goTo: (line, column) => {
      if (area.current === null) return;
      const at = offsetOf(area.current.value, line, column);
      // In this order the browser scrolls to the place.
      area.current.blur();
      area.current.setSelectionRange(at, at);
      area.current.focus();
    },
  }));
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
        ref={area}
        className={styles.area}
        aria-label={t`Text of ${name}`}
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
