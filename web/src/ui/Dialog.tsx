import { type ReactNode, useEffect, useId, useRef } from "react";
import { t } from "../language/t.ts";
import { Button } from "./Button.tsx";
import styles from "./Dialog.module.css";

export interface DialogProps {
  readonly open: boolean;
  readonly title: string;
  readonly children: ReactNode;
  /** Buttons of the last row; a `Cancel` stands before them by itself. */
  readonly actions?: ReactNode | undefined;
  readonly cancelLabel?: string | undefined;
  /** For what stands side by side. */
  readonly wide?: boolean | undefined;
  /** Escape, the cancel button or the platform's own way to leave. */
  readonly onClose: () => void;
}

/** The browser's own modal dialog: it traps focus, gives it back and hides the rest of the page by itself. */
export function Dialog({
  open,
  title,
  children,
  actions,
  cancelLabel = t`Cancel`,
  wide = false,
  onClose,
}: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null) return;
    if (open && !dialog.open) dialog.showModal();
    if (!open && dialog.open) dialog.close();
  }, [open]);
  return (
    <dialog
      ref={element}
      className={styles.dialog}
      data-wide={wide || undefined}
      aria-labelledby={heading}
      onClose={() => open && onClose()}
    >
      {open && (
        <>
          <h2 id={heading}>{title}</h2>
          <div className={styles.body}>{children}</div>
          <div className={styles.actions}>
            <Button onClick={onClose}>{cancelLabel}</Button>
            {actions}
          </div>
        </>
      )}
    </dialog>
  );
}
