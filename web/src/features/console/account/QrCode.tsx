import styles from "./QrCode.module.css";

/** A QR code as a drawing: `rows` has a string of `0` and `1` (dark) for each row of modules. */
export function QrCode({ rows, label }: { readonly rows: readonly string[]; readonly label: string }) {
  return (
    <div className={styles.frame}>
      <svg className={styles.code} viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={label}>
        <path d={drawn(rows)} />
      </svg>
    </div>
  );
}

/** Each run of dark modules in a row as one rectangle. */
function drawn(rows: readonly string[]): string {
  return rows
    .flatMap((row, y) =>
      [...row.matchAll(/1+/g)].map(({ 0: run, index: x }) => `M${x} ${y}h${run.length}v1h-${run.length}z`),
    )
    .join("");
}
