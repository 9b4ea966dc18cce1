import type { ReactNode } from "react";
import styles from "./SumTable.module.css";

interface SumTableProps {
  readonly caption: string;
  /** The first names the rows. */
  readonly heads: readonly string[];
  /** How many columns from the first on are words; the others are figures. */
  readonly words?: number;
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[];
}

/** Sums side by side; on a phone each row has them one below the other. */
export function SumTable({ caption, heads, words = 1, rows }: SumTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={styles.scroller} aria-label={caption} tabIndex={0}>
      <table className={styles.table}>
        <caption className={styles.caption}>{caption}</caption>
        <thead>
          <tr>
            {heads.map((head, column) => (
              <th key={head} scope="col" data-words={column < words || undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, column) =>
                column === 0 ? (
                  <th key={heads[column]} scope="row" data-words>
                    {cell}
                  </th>
                ) : (
                  <td key={heads[column]} data-head={heads[column]} data-words={column < words || undefined}>
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
