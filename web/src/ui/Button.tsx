import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import styles from "./Button.module.css";
import { classes } from "./classes.ts";
import { Spinner } from "./Spinner.tsx";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className" | "style" | "type"> {
  readonly children: ReactNode;
  readonly variant?: "primary" | "secondary" | "danger" | "quiet" | undefined;
  readonly size?: "normal" | "small" | undefined;
  /** Work is under way: the button keeps its place, focus and name, says so, and does nothing when pressed. */
  readonly busy?: boolean | undefined;
  /** Fills the row it stands in. */
  readonly wide?: boolean | undefined;
  readonly type?: "button" | "submit" | undefined;
  readonly ref?: Ref<HTMLButtonElement> | undefined;
}

/** A real `button`. `aria-disabled` rather than `disabled` while busy, so that focus is not lost in the middle of work. */
export function Button(props: ButtonProps) {
  const {
    children,
    variant = "secondary",
    size = "normal",
    busy = false,
    wide = false,
    type = "button",
    ...rest
  } = props;
  const inert = busy || rest["aria-disabled"] === true || rest["aria-disabled"] === "true";
  return (
    <button
      {...rest}
      type={type}
      className={classes(styles.button, styles[variant], styles[size], wide && styles.wide)}
      aria-busy={busy || undefined}
      aria-disabled={inert || undefined}
      onClick={inert ? (event) => event.preventDefault() : rest.onClick}
    >
      {busy && <Spinner />}
      <span className={styles.label}>{children}</span>
    </button>
  );
}
