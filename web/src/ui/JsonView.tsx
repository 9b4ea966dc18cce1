import styles from "./JsonView.module.css";
import { VisibleText } from "./VisibleText.tsx";

export interface JsonViewProps {
  /** A JSON value: what `JSON.parse` gives. */
  readonly value: unknown;
  /** How many levels stand open at first; the rest opens by hand. */
  readonly openTo?: number | undefined;
}

/** A JSON value as a tree of inert text. Nothing in it is a link, markup or an object of ours. */
export function JsonView({ value, openTo = 2 }: JsonViewProps) {
  if (value === null) return <span className={styles.word}>null</span>;
  switch (typeof value) {
    case "string":
      return <VisibleText text={value} />;
    case "number":
    case "boolean":
      return <span className={styles.word}>{String(value)}</span>;
    case "object":
      return Array.isArray(value) ? (
        <Branch
          kind="list"
          entries={value.map((item: unknown, index) => [String(index), item] as const)}
          openTo={openTo}
        />
      ) : (
        <Branch kind="object" entries={Object.entries(value)} openTo={openTo} />
      );
    default:
      return <span className={styles.word}>no JSON value</span>;
  }
}

interface BranchProps {
  readonly kind: "list" | "object";
  readonly entries: readonly (readonly [string, unknown])[];
  readonly openTo: number;
}

function Branch({ kind, entries, openTo }: BranchProps) {
  if (entries.length === 0)
    return <span className={styles.word}>{kind === "list" ? "empty list" : "empty object"}</span>;
  const count = kind === "list" ? plural(entries.length, "item") : plural(entries.length, "member");
  return (
    <details className={styles.branch} open={openTo > 0}>
      <summary className={styles.summary}>{count}</summary>
      <ul className={styles.members}>
        {entries.map(([name, item]) => (
          <li key={name} className={styles.member}>
            <span className={styles.name}>{kind === "list" ? name : <VisibleText text={name} />}</span>
            <span className={styles.value}>
              <JsonView value={item} openTo={openTo - 1} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
