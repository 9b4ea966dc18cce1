import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import styles from "./Tag.module.css";

export type Tone = "plain" | "accent" | "waiting" | "ok" | "danger" | "info";

/** A state or kind as a short label. The word says it; the colour only helps. */
export function Tag({ children, tone = "plain" }: { readonly children: ReactNode; readonly tone?: Tone | undefined }) {
  return <span className={classes(styles.tag, styles[tone])}>{children}</span>;
}
