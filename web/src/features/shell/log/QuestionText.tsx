import { useId, useState } from "react";
import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import styles from "./Log.module.css";
import { openingOf } from "./opening.ts";

interface QuestionTextProps {
  readonly text: string;
  /** Somebody looked for words in it, wherever in it they are. */
  readonly isSought: boolean;
}

/** What a person wrote. Of a long text, such as one that was pasted, the beginning stands there, so that the answer is near. */
export function QuestionText({ text, isSought }: QuestionTextProps) {
  const [open, setOpen] = useState(isSought);
  const id = useId();
  const opening = openingOf(text);
  if (opening === null) return <span dir="auto">{text}</span>;
  return (
    <>
      <span id={id} dir="auto">
        {open || isSought ? text : `${opening}…`}
      </span>
      {!isSought && (
        <span className={styles.unfold}>
          <Button size="small" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
            {open ? t`Show less` : t`Show more`}
          </Button>
        </span>
      )}
    </>
  );
}
