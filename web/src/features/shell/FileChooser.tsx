import { type ReactNode, useRef } from "react";
import { t } from "../../language/t.ts";
import { Button } from "../../ui/Button.tsx";
import styles from "./AttachButton.module.css";

export interface FileChooserProps {
  /** What the hidden field is called. */
  readonly label: string;
  readonly accept: string;
  readonly children: ReactNode;
  readonly onFiles: (files: readonly File[]) => void;
}

/** A button that has the browser ask for one file. */
export function FileChooser({ label, accept, children, onFiles }: FileChooserProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button size="small" variant="quiet" aria-label={label} onClick={() => input.current?.click()}>
        {children}
      </Button>
      <input
        ref={input}
        className={styles.input}
        type="file"
        accept={accept}
        tabIndex={-1}
        aria-label={t`File: ${label}`}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
    </>
  );
}
