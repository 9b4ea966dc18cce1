import { isThing } from "./acts.ts";
import { questionIn } from "./affairs.ts";
import { copy } from "./copy.ts";
import { aroundEntries, entriesOf, rowLabel, type Terms, telling, termsOf } from "./entries.ts";
import { cited, excerptOf } from "./excerpts.ts";
import { figureIn, type ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { termsIn } from "./ranking.ts";
import type { Table, TableRow } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * What is shown where a question has one of the rows of a file chosen, and code cannot tell which: "which boats need repair?". A small
 * model names a row, and seldom the right one, so none is asked: the rows with the words of the question are quoted, or else all of
 * them.
 */

const RANKING: Terms = new Set(Object.values(vocabulary.comparedBy).flat());
const STOPPED = /[,.:;!?]$/;

/**
 * The rows of a file that have the words of a question with "which", or all where that is in doubt; null for another question, and
 * where there are no rows.
 */
export function showChoices(wish: string, { name, text, hasLines }: ResultSource): string | null {
  const asked = askedByWhich(wish);
  const table = asked !== null && hasLines ? entriesOf(text, name) : null;
  if (asked === null || table === null) return null;
  const rows = ranks(wish) ? [] : rowsWith(asked, name, text, table);
  const lines = rows.flatMap(({ line }) => (line === null ? [] : [line]));
  const shown = excerptOf(rows.length > 0 ? rows.map(rowLabel).join("\n") : text);
  const rest = shown.leftOut === 0 ? "" : `\n${fill(copy.leftOut, () => `${shown.leftOut}`)}`;
  return `${rows.length > 0 ? copy.rowsWithWords : copy.rowsUntold} ${cited(name, lines)}:\n\n${shown.text}${rest}`;
}

/** The words behind a "which" that asks, with which a question or a part of it begins; null without one. */
function askedByWhich(wish: string): string[] | null {
  const words = wordsOf(wish).map(({ start, end, bare }) => ({ bare, written: wish.slice(start, end) }));
  const opens = words.length - wordsOf(questionIn(wish)).length;
  const begins = (at: number) => at === 0 || at === opens || STOPPED.test(words[at - 1]?.written as string);
  const at = words.findIndex(({ bare }, place) => bare === "which" && begins(place));
  if (at < 0) return null;
  return words.slice(at + 1).flatMap(({ bare, written }) => (isThing(written) ? [] : [bare]));
}

/** Whether a row is asked for by how it stands among the others, of which its own words tell nothing. */
function ranks(wish: string): boolean {
  return figureIn(wish) !== null || wordsOf(wish).some(({ bare }) => RANKING.has(bare));
}

/** The rows that have all words by which the question tells them apart. Where it names a column, they stand in that. */
function rowsWith([kind = "", ...rest]: readonly string[], name: string, text: string, table: Table): TableRow[] {
  const around = aroundEntries(text, name, table);
  const kinds = termsIn(kind);
  const wanted = rest.flatMap((word) => telling(word, false)).filter((term) => !kinds.includes(term));
  const named = table.columns.map((column) => termsIn(column).some((term) => wanted.includes(term)));
  const told = wanted.filter((term) => !around.has(term));
  const rows = table.rows.filter(({ cells }) => {
    const held = termsOf(cells.filter((_, at) => named[at] === true || !named.includes(true)));
    return told.every((term) => held.has(term));
  });
  return told.length > 0 && rows.length < table.rows.length ? rows : [];
}
