import { stem } from "./ranking.ts";
import { vocabulary } from "./vocabulary.ts";

/*
 * The months of days that stand in figures, so that "in April" finds the rows of 2026-04-02.
 */

const DAY = /^ *(?:([0-9]{4})-([0-9]{2})(?:-[0-9]{2})?|[0-9]{1,2}\.([0-9]{1,2})\.([0-9]{4}))(?:[T ].*)?$/;
const NAMES = vocabulary.months.map((names) => names.map(stem));

/** The names of the month of a day; none where a cell is no day. */
export function monthTerms(cell: string): readonly string[] {
  const found = DAY.exec(cell);
  return NAMES[Number(found?.[2] ?? found?.[3] ?? 0) - 1] ?? [];
}

/** Whether a month is asked for without its year, and cells have days of that month in more than one. */
export function isOfSeveralYears(terms: readonly string[], cells: readonly string[]): boolean {
  const years = new Set(cells.map((cell) => DAY.exec(cell)).flatMap((found) => found?.[1] ?? found?.[4] ?? []));
  return years.size > 1 && terms.some(isMonth) && !terms.some((term) => years.has(term));
}

/** Whether a word is the name of a month. */
export function isMonth(word: string): boolean {
  return NAMES.some((names) => names.includes(stem(word.toLowerCase())));
}
