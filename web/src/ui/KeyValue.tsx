import type { ReactNode } from "react";
import styles from "./KeyValue.module.css";

export interface Row {
  /** Unique in the list, and what is shown unless `term` says more. */
  readonly name: string;
  readonly term?: ReactNode | undefined;
  readonly value: ReactNode;
}

/** Names and their values, side by side where there is room and one above the other where there is not. */
export function KeyValue({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <dl className={styles.list}>
      {rows.map((row) => (
        <div key={row.name} className={styles.row}>
          <dt className={styles.term}>{row.term ?? row.name}</dt>
          <dd className={styles.value}>{row.value}</dd>
        </div>
      ))}
    </dl>
  );
}
