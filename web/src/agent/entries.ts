import { linesOf } from "./passages.ts";
import { stem, termsIn } from "./ranking.ts";
import { type Table, type TableRow, tableOf } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";

/* What stands for itself in a file: the rows of a table, or the lines of a list. */

export type Terms = ReadonlySet<string>;

const BULLET = /^(?:[-*+•]|[0-9]{1,3}[.)]) +/;
const BOX = /^(?:[-*+•] )?\[([ xX✓])\] ?/;
const RECORD = /^[^:]{1,40}: +[^ ].*$/;
const RULE = /^[ |:-]*-[ |:-]*$/;
const HEADING = "#";
const LIGHT_WORDS = [
  ...vocabulary.lightWords,
  ...vocabulary.askingWords,
  ...vocabulary.commonTerms,
  ...vocabulary.passedOver,
];
/** Words that tell nothing of a row. */
const LIGHT: Terms = new Set([...LIGHT_WORDS, ...LIGHT_WORDS.map(stem)]);
const ASKING_WORDS = [
  ...vocabulary.acts.read.verbs,
  ...vocabulary.searchVerbs,
  ...vocabulary.fillers,
  ...Object.values(vocabulary.figures).flat(),
];
/** The same, and words that say what is to be done with rows. Of those that are "not open" it is what they are not. */
const PASSED: Terms = new Set([...LIGHT, ...ASKING_WORDS, ...ASKING_WORDS.map(stem)]);

/** The rows of a table with names for its columns, or the lines of a list; null for anything else. */
export function entriesOf(text: string, name: string): Table | null {
  const table = tableOf(text, name);
  if (table !== null && table.columns.length > 0) return table.listing ? null : table;
  const ruled = ruledTable(linesOf(text));
  if (ruled !== null) return ruled;
  const rows = filledLines(text);
  const isList = rows.every(({ cells: [cell = ""] }) => BULLET.test(cell) || BOX.test(cell));
  const isRecord = rows.every(({ cells: [cell = ""] }) => RECORD.test(cell));
  return (isList || isRecord) && rows.length > 1 ? { columns: [], rows, totals: [], listing: false } : null;
}

/** A table of Markdown, which has a rule below its names, whatever its cells are. */
function ruledTable(lines: readonly string[]): Table | null {
  const at = lines.findIndex((line, place) => place > 0 && line.includes("|") && RULE.test(line));
  if (at < 0) return null;
  const columns = cellsOf(lines[at - 1] as string);
  const rows = lines.slice(at + 1).map((line, place) => ({ cells: cellsOf(line), line: at + place + 2 }));
  return { columns, rows: rows.filter(({ cells }) => cells.length === columns.length), totals: [], listing: false };
}

function cellsOf(line: string): string[] {
  const bare = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return bare.split("|").map((cell) => cell.trim());
}

/** The lines that say something and are no headings. */
export function filledLines(text: string): TableRow[] {
  return linesOf(text)
    .map((line, at) => ({ cells: [line.trim()], line: at + 1 }))
    .filter(({ cells: [cell = ""] }) => cell !== "" && !cell.startsWith(HEADING));
}

/** The terms of what all rows are of: the file's name, the names of columns, and headings. */
export function aroundEntries(text: string, name: string, table: Table): Terms {
  const headings = linesOf(text).filter((line) => line.startsWith(HEADING));
  const terms = termsOf([name, ...table.columns, ...headings]);
  // Of "meetings" the question has "meeting", which has an ending of its own.
  return new Set([...terms, ...[...terms].map(stem)]);
}

/** Whether the box of a line is ticked; null where it has none. */
export function isTicked({ cells: [cell = ""] }: TableRow): boolean | null {
  const box = BOX.exec(cell);
  return box === null ? null : box[1] !== " ";
}

/** A row as it is told: its cells, a line without its bullet. */
export function rowLabel({ cells }: TableRow): string {
  return cells.length > 1 ? cells.filter((cell) => cell !== "").join(", ") : cells.join("").replace(BULLET, "");
}

/** The terms of several texts. */
export function termsOf(texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap(termsIn));
}

/**
 * The terms of a question's word that tell rows apart; none of a word that any question has. Not `asks`: it stands where nothing is
 * asked to be done.
 */
export function telling(word: string, asks = true): string[] {
  const passed = asks ? PASSED : LIGHT;
  return passed.has(word) ? [] : termsIn(word).filter((term) => !passed.has(term));
}
