import type { ReactNode } from "react";
import styles from "./Banner.module.css";
import { classes } from "./classes.ts";

export interface BannerProps {
  readonly tone: "info" | "waiting" | "danger" | "ok";
  readonly title?: string | undefined;
  readonly children?: ReactNode | undefined;
  /** Interrupts whoever listens; for what went wrong just now, not for what was so all along. */
  readonly urgent?: boolean | undefined;
}

/** A message about the page as it stands, in the flow of the page. */
export function Banner({ tone, title, children, urgent = false }: BannerProps) {
  return (
    <div role={urgent ? "alert" : "note"} className={classes(styles.banner, styles[tone])}>
      {title !== undefined && <p className={styles.title}>{title}</p>}
      {children}
    </div>
  );
}
