import type { ReactNode } from "react";
import styles from "./Card.module.css";
import { classes } from "./classes.ts";

export interface CardProps {
  readonly children: ReactNode;
  /** The element; `section` and `article` want a `label` or `labelledBy`. */
  readonly as?: "div" | "section" | "article" | "li" | undefined;
  /** `waiting` marks what needs a person. */
  readonly tone?: "plain" | "waiting" | "danger" | undefined;
  readonly label?: string | undefined;
  readonly labelledBy?: string | undefined;
}

/** A framed part of the page. It never clips its content: a button that does not fit must wrap, not vanish. */
export function Card({ children, as: Element = "div", tone = "plain", label, labelledBy }: CardProps) {
  return (
    <Element className={classes(styles.card, styles[tone])} aria-label={label} aria-labelledby={labelledBy}>
      {children}
    </Element>
  );
}
