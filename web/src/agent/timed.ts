import { isThing } from "./acts.ts";
import { findDays, plain } from "./days.ts";
import { aroundEntries, entriesOf, filledLines, telling, termsOf } from "./entries.ts";
import type { TableRow } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Rows that are asked for by when they are: "when is the next meeting?", "which upcoming events are there?". A small model takes
 * the first line that fits. Which one is next depends on the day where the person is, and code knows that.
 */

/** Which of several days is meant: the first that is not behind today, all of these, or the newest that is not before us. */
export type When = keyof typeof vocabulary.timePicks;

const WHEN_OF: ReadonlyMap<string, When> = new Map(
  (Object.entries(vocabulary.timePicks) as [When, readonly string[]][]).flatMap(([when, words]) =>
    words.map((word) => [word, when] as const),
  ),
);
/** Words after "next" and "last" with which they mean a time, or a place in a text. */
const UNPICKED: ReadonlySet<string> = new Set([
  ...vocabulary.unpickedNouns,
  ...vocabulary.weekdays,
  ...vocabulary.months.flat(),
]);
const GENERAL = termsOf(vocabulary.eventNouns);
const TIME = /^\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)/;
const LEAST = 2;

/** The rows that are meant, and when; none where no day is so. */
export interface TimedRows {
  readonly when: When;
  readonly rows: readonly TableRow[];
}

/** Which of several days a wish means; null where it means none. */
export function whenIn(wish: string): When | null {
  const bare = wordsOf(wish).map((word) => word.bare);
  const picked = bare.flatMap((word, at) => {
    const after = bare[at + 1] ?? "";
    return WHEN_OF.has(word) ? [UNPICKED.has(after) || /^[0-9]+$/.test(after) ? null : WHEN_OF.get(word)] : [];
  });
  return picked.includes(null) ? null : (picked[0] ?? null);
}

/** The rows of a file that a wish means by their day; null where it means none, or where that is in doubt. */
export function timedRows(wish: string, text: string, name: string, today: string): TimedRows | null {
  const when = whenIn(wish);
  const table = entriesOf(text, name) ?? { columns: [], rows: filledLines(text), totals: [], listing: false };
  const dated = table.rows.flatMap((row) => {
    const day = dayOf(row, today, when !== "last");
    return day === null ? [] : [{ day, row }];
  });
  if (when === null || dated.length < LEAST || dated.length * 2 < table.rows.length) return null;
  const said = wordsOf(wish).filter(({ start, end, bare }) => !(WHEN_OF.has(bare) || isThing(wish.slice(start, end))));
  const asked = [...new Set(said.flatMap(({ bare }) => telling(bare)))];
  const held = termsOf(dated.flatMap(({ row }) => row.cells));
  const around = aroundEntries(text, name, table);
  if (!asked.every((term) => held.has(term) || GENERAL.has(term) || around.has(term))) return null;
  const wanted = asked.filter((term) => held.has(term));
  const fitting = dated.filter(({ row, day }) => {
    const terms = termsOf(row.cells);
    return wanted.every((term) => terms.has(term)) && (when === "last" ? day <= today : day >= today);
  });
  if (when === "upcoming") return { when, rows: fitting.map(({ row }) => row) };
  const days = fitting.map(({ day }) => day).sort();
  const best = when === "last" ? days.at(-1) : days[0];
  const meant = fitting.filter(({ day }) => day === best).map(({ row }) => row);
  return { when, rows: when === "last" ? newestOf(meant) : meant };
}

/** Of rows of one day those with the latest time, where each begins with the day and a time, as the lines of a log do. */
function newestOf(rows: readonly TableRow[]): readonly TableRow[] {
  const times = rows.map(({ cells: [first = ""] }) => TIME.exec(first)?.[1] ?? "");
  const newest = [...times].sort().at(-1);
  return times.includes("") ? rows : rows.filter((_, at) => times[at] === newest);
}

/** The first day that a row names in digits. */
function dayOf({ cells }: TableRow, today: string, ahead: boolean): string | null {
  const text = plain(cells.join(" "));
  const named = findDays(text, today, ahead).find(({ start, end }) => /[0-9]/.test(text.slice(start, end)));
  return named?.day ?? null;
}
