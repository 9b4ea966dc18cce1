import styles from "./Spinner.module.css";

/** A turning ring. With `label` it is an announced status of its own; without, decoration beside words that say it. */
export function Spinner({ label }: { readonly label?: string }) {
  const ring = <span className={styles.ring} aria-hidden="true" />;
  if (label === undefined) return ring;
  return (
    <span role="status" className={styles.status}>
      {ring}
      {label}
    </span>
  );
}
