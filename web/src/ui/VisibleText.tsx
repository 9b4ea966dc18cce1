import { useId, useMemo, useState } from "react";
import { language } from "../language/language.ts";
import { rich } from "../language/rich.ts";
import { t } from "../language/t.ts";
import { Button } from "./Button.tsx";
import { classes } from "./classes.ts";
import { foldText } from "./text-fold.ts";
import { type Segment, segment } from "./text-segments.ts";
import { useDigest } from "./use-digest.ts";
import styles from "./VisibleText.module.css";

export interface VisibleTextProps {
  readonly text: string;
  /** Whether the middle of a long value may be hidden; on unless everything has to be on screen anyway. */
  readonly fold?: boolean | undefined;
  /** A sentence for people reads in the page's own type; a value in one where every character has the same width. */
  readonly prose?: boolean | undefined;
}

/**
 * Untrusted text, shown so that it cannot pass for another text: characters without a shape, changes of direction and
 * look-alikes stand out as escapes. Of a long value the middle is hidden; its start and its end stay, with how much is hidden
 * and the SHA-256 of the whole.
 */
export function VisibleText({ text, fold = true, prose = false }: VisibleTextProps) {
  const [open, setOpen] = useState(false);
  const folded = useMemo(() => (fold ? foldText(text) : undefined), [text, fold]);
  if (text === "") return <span className={styles.empty}>{t`empty text`}</span>;
  if (folded === undefined) return <Shown text={text} prose={prose} />;
  return <Folded text={text} folded={folded} open={open} onToggle={() => setOpen(!open)} />;
}

interface FoldedProps {
  readonly text: string;
  readonly folded: { readonly head: string; readonly tail: string; readonly hidden: number };
  readonly open: boolean;
  readonly onToggle: () => void;
}

function Folded({ text, folded, open, onToggle }: FoldedProps) {
  const digest = useDigest(text);
  const id = useId();
  return (
    <span className={styles.folded}>
      <span id={id} className={styles.parts}>
        {open ? (
          <Shown text={text} />
        ) : (
          <>
            <Shown text={folded.head} />
            <span className={styles.gap}>{t`${folded.hidden} characters are hidden here`}</span>
            <Shown text={folded.tail} />
          </>
        )}
      </span>
      <span className={styles.note}>
        {rich`${[...text].length} characters, SHA-256 ${<code>{digest ?? "…"}</code>}`}
      </span>
      <Button size="small" aria-expanded={open} aria-controls={id} onClick={onToggle}>
        {open ? t`Show less` : t`Show everything`}
      </Button>
    </span>
  );
}

function Shown({ text, prose = false }: { readonly text: string; readonly prose?: boolean }) {
  const segments = useMemo(() => segment(text), [text]);
  return (
    <span className={classes(styles.text, !prose && styles.value)} dir="ltr" translate="no">
      {segments.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the segments of one text never move
        <Part key={index} part={part} />
      ))}
    </span>
  );
}

function Part({ part }: { readonly part: Segment }) {
  switch (part.kind) {
    case "plain":
      return part.text;
    case "rtl":
      return <bdi dir="rtl">{part.text}</bdi>;
    case "escape":
      return (
        <>
          <mark className={classes(styles.escape, part.breaks && part.count === 1 && styles.quiet)} title={part.name}>
            {part.code}
            {part.count > 1 && ` × ${part.count.toLocaleString(language)}`}
          </mark>
          {part.breaks && "\n"}
        </>
      );
    case "lookalike":
      return (
        <mark className={styles.lookalike} title={t`${part.code}, not the “${part.like}” it looks like`}>
          {part.text}
          <span className={styles.code}>{part.code}</span>
        </mark>
      );
  }
}
