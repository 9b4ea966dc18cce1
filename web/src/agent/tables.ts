import { isObject, isParseFailure, readObject } from "./parse.ts";
import { linesOf } from "./passages.ts";
import { numbersIn } from "./quantities.ts";
import { stem, termsIn } from "./ranking.ts";
import { vocabulary } from "./vocabulary.ts";

/*
 * A result as rows and columns: CSV, a table of Markdown, a JSON list, a listing of a folder, a search's matches, or lines with a
 * number each.
 */

/** Cells, and the line where they stand, counted from 1; null in a result whose lines nobody sees. */
export interface TableRow {
  readonly cells: readonly string[];
  readonly line: number | null;
}

/**
 * Rows of the same number of cells. `columns` are their names, empty where there are none, and `totals` the rows that sum up
 * others. In a `listing` each row is an entry of a folder: its name, its kind and its size.
 */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
  readonly totals: readonly TableRow[];
  readonly listing: boolean;
}

const DELIMITERS = ["\t", ";", "|", ","] as const;
const RULE = /^[ |:+-]+$/;
const ENTRY = /^- (.*?)(\/| \(([0-9]+) bytes\)| \(a link\)| \(not a regular file\))$/;
/** A line that a search found. A match of the name alone is the path and nothing else, which a text can be too. */
const MATCH = /^([^:]*[^: ]):[0-9]+(?:-[0-9]+)?: (.*)$/;
const CELL = /^"((?:[^"]|"")*)"$/;
const AROUND = /^[\s*+•=:-]+|[\s=:-]+$/g;
const NAMED_TABLE = /\.(?:csv|tsv)$/i;
const DIGIT = /[0-9]/;
const TOTALS: ReadonlySet<string> = new Set(vocabulary.totalLabels.map(stem));
const LISTED = { columns: ["name", "kind", "size"], totals: [], listing: true } as const;

/** The rows and columns of a result, or null where it has none. `name` is the file's. */
export function tableOf(text: string, name: string): Table | null {
  const lines = linesOf(text);
  return listing(lines) ?? matches(lines) ?? jsonTable(text) ?? delimited(lines, name) ?? numberedLines(lines);
}

function listing([head, ...lines]: readonly string[]): Table | null {
  const found = lines.map((line) => ENTRY.exec(line)).filter((each) => each !== null);
  if (found.length === 0 || found.length < lines.length || head?.endsWith(":") !== true) return null;
  const rows = found.map(([, name = "", kind, size]) => ({
    cells: [name, kind === "/" ? "folder" : "file", size === undefined ? "" : `${size} bytes`],
    line: null,
  }));
  return { ...LISTED, rows };
}

/** The files of a search's matches. */
function matches(lines: readonly string[]): Table | null {
  const paths = lines.flatMap((line) => matchOf(line)?.path ?? []);
  if (paths.length === 0 || paths.length < lines.length) return null;
  return { ...LISTED, rows: [...new Set(paths)].map((path) => ({ cells: [path, "file", ""], line: null })) };
}

/** The path that a search's match begins with, and the text of its line; null for a line of another form. */
export function matchOf(line: string): { readonly path: string; readonly text: string } | null {
  const [, path, text] = MATCH.exec(line) ?? [];
  return path === undefined || text === undefined ? null : { path, text };
}

/**
 * The rows of a file that a question speaks of: those that hold most of its terms. Null where it has no rows, or where the
 * question speaks of all of them or of none.
 */
export function rowsAbout(question: string, text: string, name: string): readonly TableRow[] | null {
  const table = tableOf(text, name);
  if (table === null || table.listing) return null;
  const named = new Set(termsIn(name));
  const asked = new Set(termsIn(question).filter((term) => !named.has(term)));
  const rows = [...table.rows, ...table.totals];
  const held = rows.map(({ cells }) => new Set(termsIn(cells.join(" ")).filter((term) => asked.has(term))).size);
  const most = Math.max(0, ...held);
  const about = rows.filter((_, at) => held[at] === most);
  return most === 0 || about.length === rows.length ? null : about;
}

function jsonTable(text: string): Table | null {
  if (!/^\s*[[{]/.test(text)) return null;
  const value = readObject(`{"list":${text}}`);
  if (isParseFailure(value)) return null;
  const entries = listIn(value.list);
  if (entries === null || entries.length === 0) return null;
  if (!entries.every(isObject))
    return summed(
      [],
      entries.map((each) => ({ cells: [cellOf(each)], line: null })),
    );
  const columns = [...new Set(entries.flatMap((each) => Object.keys(each)))];
  const cells = (each: Readonly<Record<string, unknown>>) =>
    columns.map((name) => cellOf(Object.hasOwn(each, name) ? each[name] : null));
  return summed(
    columns,
    entries.map((each) => ({ cells: cells(each), line: null })),
  );
}

/** A list, or the only one of an object. */
function listIn(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value;
  // The text begins with a bracket, so what is no list is an object.
  const [list, ...more] = Object.values(value as object).filter((each) => Array.isArray(each));
  return list === undefined || more.length > 0 ? null : list;
}

function cellOf(value: unknown): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Lines that fall into the same number of cells: a file of a table's ending, or one with a line of names above. */
function delimited(lines: readonly string[], name: string): Table | null {
  for (const delimiter of DELIMITERS) {
    const rows = lines.flatMap((line, at) =>
      isRow(line, delimiter) ? [{ cells: cellsOf(line, delimiter), line: at + 1 }] : [],
    );
    const [first, ...others] = rows;
    const width = first?.cells.length ?? 0;
    if (first === undefined || others.length === 0 || width < 2) continue;
    if (others.some(({ cells }) => cells.length !== width)) continue;
    const hasDigit = first.cells.some((cell) => DIGIT.test(cell));
    const areNames = first.cells.some((_, at) => others.every(({ cells }) => DIGIT.test(cells[at] as string)));
    const isTable = NAMED_TABLE.test(name);
    if (!hasDigit && (areNames || isTable)) return summed(first.cells, others);
    if (isTable) return summed([], rows);
  }
  return null;
}

/** Whether a line can be a row. Around a table of Markdown there is text, and below its names a rule. */
function isRow(line: string, delimiter: string): boolean {
  const text = line.trim();
  return text !== "" && !RULE.test(text) && (delimiter !== "|" || text.includes(delimiter));
}

/** The cells of a line. One in quotes may hold the delimiter, and two quotes in it are one. */
function cellsOf(line: string, delimiter: string): string[] {
  const trimmed = line.trim();
  const text = delimiter === "|" ? trimmed.replace(/^\|/, "").replace(/\|$/, "") : trimmed;
  const pieces: string[] = [];
  for (const piece of text.split(delimiter)) {
    const open = pieces.at(-1);
    if (open !== undefined && open.split('"').length % 2 === 0) pieces[pieces.length - 1] = open + delimiter + piece;
    else pieces.push(piece);
  }
  return pieces.map((piece) => unquoted(piece.trim()));
}

function unquoted(piece: string): string {
  return CELL.exec(piece)?.[1]?.replaceAll('""', '"').trim() ?? piece;
}

/** Lines with one number each, after what it is of. Lines without a number are headings and remarks. */
function numberedLines(lines: readonly string[]): Table | null {
  const found = lines.map((line) => numbersIn(line));
  const rows = lines.flatMap((line, at) => {
    const number = found[at]?.[0]?.text;
    return number === undefined ? [] : [{ cells: [labelOfNumber(line, number), number], line: at + 1 }];
  });
  return rows.length < 2 || found.some((each) => each.length > 1) ? null : summed([], rows);
}

/** The columns with one number in each cell that is not empty. */
export function numericColumns({ rows }: Table): readonly number[] {
  return (rows[0]?.cells ?? []).flatMap((_, at) => {
    const filled = rows.flatMap(({ cells }) => (cells[at] ? [cells[at]] : []));
    return filled.length > 0 && filled.every((cell) => numbersIn(cell).length === 1) ? [at] : [];
  });
}

/**
 * Those among them that are worked with. In a file that is called after its first column, that tells which row it is, order 41 or 42,
 * where there is another one.
 */
export function amountColumns(table: Table, name: string): readonly number[] {
  const found = numericColumns(table);
  const named = new Set(termsIn(name));
  const tellsWhich = termsIn(table.columns[0] ?? "").some((term) => named.has(term));
  return tellsWhich && found[0] === 0 && found.length > 1 ? found.slice(1) : found;
}

/** Whether some rows of a table with names for its columns have just this term in a cell. */
export function hasCell(table: Table | null, term: string): boolean {
  if (table === null || table.columns.length === 0) return false;
  return table.rows.some(({ cells }) => cells.some((cell) => termsIn(cell).join(" ") === term));
}

/** What the number of a line is of: the rest of the line. */
export function labelOfNumber(line: string, number: string): string {
  const at = line.lastIndexOf(number);
  return `${line.slice(0, at).trim()} ${line.slice(at + number.length).trim()}`.replaceAll(AROUND, "");
}

/** The table with the rows apart that sum up others, so that nothing counts twice. */
function summed(columns: readonly string[], rows: readonly TableRow[]): Table {
  const isSum = ({ cells }: TableRow) => cells.some(isTotal);
  return { columns, rows: rows.filter((row) => !isSum(row)), totals: rows.filter(isSum), listing: false };
}

function isTotal(cell: string): boolean {
  const [first, ...others] = termsIn(cell).filter((term) => !/^[0-9]+$/.test(term));
  return first !== undefined && TOTALS.has(first) && others.length <= 1;
}
