import { useLocation, useSearch } from "wouter";
import { t } from "../../../language/t.ts";
import { SelectField } from "../../../ui/Field.tsx";
import { RANGES } from "./calls-view.ts";
import styles from "./SpanChoice.module.css";

const DEFAULT = "7d";

/** The length of time that the address asks for, in milliseconds: a week unless it says otherwise. */
export function lengthOf(search: string): number {
  return (RANGES.find(([range]) => range === rangeOf(search)) as (typeof RANGES)[number])[2];
}

/** How far back sums go; it stands in the address. */
export function SpanChoice() {
  const [path, navigate] = useLocation();
  const range = rangeOf(useSearch());
  return (
    <div className={styles.span}>
      <SelectField
        label={t`Time`}
        options={RANGES.map(([value, words]) => [value, words])}
        value={range}
        onChange={(event) => navigate(`${path}?range=${event.currentTarget.value}`)}
      />
    </div>
  );
}

function rangeOf(search: string): string {
  const asked = new URLSearchParams(search).get("range");
  return RANGES.some(([range]) => range === asked) ? (asked as string) : DEFAULT;
}
