import { t } from "../language/t.ts";
import styles from "./JsonView.module.css";
import { VisibleText } from "./VisibleText.tsx";

export interface JsonViewProps {
  /** A JSON value: what `JSON.parse` gives. */
  readonly value: unknown;
  /** How many levels stand open at first; the rest opens by hand. */
  readonly openTo?: number | undefined;
  /** Whether the middle of a long text may be hidden; on unless everything has to be on screen anyway. */
  readonly fold?: boolean | undefined;
}

/** Texts that read as a value of another type: they are said to be texts. */
const OTHER_TYPE =
  /^(?:true|false|null|none|nothing|yes|no|empty (?:text|list|object)|[-+]?[0-9][0-9_.,]*(?:e[-+]?[0-9]+)?)$/i;

/** A JSON value as a tree of plain text, its types told apart in words. Nothing in it becomes a link or markup. */
export function JsonView({ value, openTo = 2, fold = true }: JsonViewProps) {
  if (value === null) return <span className={styles.word}>{t`nothing`}</span>;
  switch (typeof value) {
    case "string":
      return OTHER_TYPE.test(value) ? (
        <>
          <span className={styles.word}>{t`text`} </span>“<VisibleText text={value} />”
        </>
      ) : (
        <VisibleText text={value} fold={fold} />
      );
    case "number":
      return (
        <>
          <VisibleText text={String(value)} /> <span className={styles.word}>{t`(number)`}</span>
        </>
      );
    case "boolean":
      return <span className={styles.word}>{value ? t`yes` : t`no`}</span>;
    case "object":
      return Array.isArray(value) ? (
        <Branch
          kind="list"
          entries={value.map((item: unknown, index) => [String(index), item] as const)}
          openTo={openTo}
          fold={fold}
        />
      ) : (
        <Branch kind="object" entries={Object.entries(value)} openTo={openTo} fold={fold} />
      );
    default:
      return <span className={styles.word}>{t`no JSON value`}</span>;
  }
}

interface BranchProps {
  readonly kind: "list" | "object";
  readonly entries: readonly (readonly [string, unknown])[];
  readonly openTo: number;
  readonly fold: boolean;
}

function Branch({ kind, entries, openTo, fold }: BranchProps) {
  if (entries.length === 0)
    return <span className={styles.word}>{kind === "list" ? t`empty list` : t`empty object`}</span>;
  const count = kind === "list" ? t`${entries.length} {item|items}` : t`${entries.length} {field|fields}`;
  return (
    <details className={styles.branch} open={openTo > 0}>
      <summary className={styles.summary}>{count}</summary>
      <ul className={styles.fields}>
        {entries.map(([name, item]) => (
          <li key={name} className={styles.field}>
            <span className={styles.name}>{kind === "list" ? name : <VisibleText text={name} fold={fold} />}</span>
            <span className={styles.value}>
              <JsonView value={item} openTo={openTo - 1} fold={fold} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
