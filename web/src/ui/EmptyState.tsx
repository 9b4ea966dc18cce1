import type { ReactNode } from "react";
import styles from "./EmptyState.module.css";

/** Shown in place of an empty list: why it is empty, and what would fill it. */
export function EmptyState({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {children}
    </div>
  );
}
