import { useLayoutEffect, useRef, useState } from "react";
import { t } from "../../../language/t.ts";
import { Button } from "../../../ui/Button.tsx";
import { isSendKey, type SendKey } from "../settings.ts";
import styles from "./EntryActions.module.css";

interface QuestionEditorProps {
  readonly text: string;
  readonly sendKey: SendKey;
  readonly busy: boolean;
  readonly onCancel: () => void;
  readonly onAsk: (text: string) => void;
}

/** A question to be put in other words. The keys are those of the message box, and Escape leaves it as it was. */
export function QuestionEditor({ text, sendKey, busy, onCancel, onAsk }: QuestionEditorProps) {
  const [draft, setDraft] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    // Whoever pressed Edit goes on at the end.
    field.current?.focus();
    field.current?.setSelectionRange(field.current.value.length, field.current.value.length);
  }, []);
  const asked = draft.trim();
  const isComplete = asked !== "" && !busy;
  const ask = () => {
    if (isComplete) onAsk(asked);
  };
  return (
    <form
      className={styles.editor}
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
      onKeyDown={(event) => event.key === "Escape" && onCancel()}
    >
      <textarea
        ref={field}
        className={styles.field}
        aria-label={t`In other words`}
        rows={Math.min(8, draft.split("\n").length)}
        value={draft}
        onChange={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (!isSendKey(event, sendKey)) return;
          event.preventDefault();
          ask();
        }}
      />
      <div className={styles.actions}>
        <Button size="small" onClick={onCancel}>
          {t`Cancel`}
        </Button>
        <Button size="small" type="submit" variant="primary" aria-disabled={!isComplete || undefined}>
          {t`Ask in a branch`}
        </Button>
      </div>
    </form>
  );
}
