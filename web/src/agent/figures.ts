import limits from "../../../loop/limits.json" with { type: "json" };
import { isThing } from "./acts.ts";
import { copy } from "./copy.ts";
import { entriesOf } from "./entries.ts";
import { cited } from "./excerpts.ts";
import { type Exclusion, exclusionIn, keptRows } from "./exclusions.ts";
import { alikeTerms, asksForWhom, chosenAmong, countsAmounts, isIdentifier } from "./figure-columns.ts";
import { fill } from "./fill.ts";
import { isLog, LEVELS, leveled, tellsAll } from "./levels.ts";
import { isOfSeveralYears, monthTerms } from "./monthly.ts";
import { linesOf } from "./passages.ts";
import { add, asWritten, divide, numbersIn, type Quantity, readQuantities, scaled } from "./quantities.ts";
import { stem, termsIn } from "./ranking.ts";
import { amountColumns, hasCell, numericColumns, type Table, type TableRow, tableOf } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Numbers that are asked for: sums, counts, extremes and averages, computed from a result by code and never by a model. Only where
 * the question leaves no doubt which numbers it is about; otherwise null, and the caller shows the lines.
 */

type Figure = keyof typeof vocabulary.figures;
type Noun = keyof typeof vocabulary.countedNouns;
type Terms = ReadonlySet<string>;

/** A result: what it is of, for people; its text; whether that is all of it; and whether people see it by lines. */
export interface ResultSource {
  readonly name: string;
  readonly text: string;
  readonly whole: boolean;
  readonly hasLines: boolean;
}

/** Rows that a question is about, the numbers that stand in them, and what is asked of these. */
interface Chosen {
  readonly figure: Exclude<Figure, "count">;
  readonly rows: readonly TableRow[];
  readonly numbers: readonly Quantity[];
  readonly unit: string;
  readonly column: string;
  readonly leftOut: readonly TableRow[];
}

/** How many there are of what, and which rows they are where not all are counted. */
interface Counted {
  readonly figure: "count";
  readonly count: number;
  readonly kind: Noun;
  readonly rows: readonly TableRow[];
}

/** Words behind "how many" that ask for nothing else. */
const IN_ALL: ReadonlySet<string> = new Set(["total", "altogether"]);
/** Words behind "add" by which it asks for a sum. "Add soap to it" asks for none. */
const SUMMED: ReadonlySet<string> = new Set([
  "up",
  "together",
  ...vocabulary.figureReferences,
  ...vocabulary.figureNouns,
]);
const FIGURE_OF = byWord<Figure>(vocabulary.figures);
const NOUN_OF = byWord<Noun>(vocabulary.countedNouns);
const NEUTRAL: Terms = new Set(
  [
    ...vocabulary.figureNouns,
    ...vocabulary.lightWords,
    ...vocabulary.askingWords,
    ...FIGURE_OF.keys(),
    ...NOUN_OF.keys(),
  ].map(stem),
);
const MOST_SHOWN = limits.addendsShown;
const BULLET = /^ *(?:[-*+•]|\[[ xX✓]\]) /;
const LIST = "list";
const ARTICLES: Terms = new Set(vocabulary.pluralArticles);
/** A word of a text. A dash or a bullet by itself is none. */
const SPOKEN = /[^ \t\r\n\f\v\u00a0]*[\p{L}\p{N}][^ \t\r\n\f\v\u00a0]*/gu;
/** What a log is called by. */
const LOG = "log";
/** An item of a list without bullets. */
const ITEM = /^ *[^\s:,;]+(?: [^\s:,;]+){0,2}(?<![.!?]) *$/;

/** The one figure that a wish asks for, if it does. Of two it is not clear which number belongs to which. */
export function figureIn(wish: string): Figure | null {
  const [figure, ...more] = new Set(figuresSaid(wish));
  return figure === undefined || more.length > 0 ? null : figure;
}

/** Whether a wish asks for a number that somebody would have to work out. */
export function asksForFigure(wish: string): boolean {
  return figuresSaid(wish).length > 0;
}

/** The figures that the words of a wish are for. "The most recent letter" is the newest one. */
function figuresSaid(wish: string): Figure[] {
  const words = wordsOf(wish).map(({ bare }) => bare);
  return words.flatMap((word, at) => {
    const isNewest = word === "most" && ["recent", "recently"].includes(words[at + 1] ?? "");
    const isTold = word === "many" && asksForWhom(words.slice(at + 1));
    const isAdded = word === "add" && !words.slice(at + 1).some((each) => SUMMED.has(each));
    const isInAll = IN_ALL.has(word) && words.slice(0, at).includes("many");
    return isNewest || isTold || isAdded || isInAll ? [] : (FIGURE_OF.get(word) ?? []);
  });
}

/** The number that a wish asks for, with what it was made of and where that stands; null where that is in doubt. */
export function answerFigure(wish: string, source: ResultSource): string | null {
  const made = workOut(wish, source);
  switch (made?.figure) {
    case undefined:
      return null;
    case "count":
      return sayCount(made, source);
    case "sum":
      return saySum(made, source);
    case "average":
      return sayAverage(made, source);
    case "largest":
    case "smallest":
      return sayExtreme(made.figure, made, source);
  }
}

/** The number by itself, or the row that has the largest or the smallest one; null where that is in doubt. */
export function bareFigure(wish: string, source: ResultSource): string | null {
  const made = workOut(wish, source);
  switch (made?.figure) {
    case undefined:
      return null;
    case "count":
      return `${made.count}`;
    case "sum":
      return withUnit(add(made.numbers), made);
    case "average":
      return withUnit(divide(add(made.numbers), made.numbers.length).mean, made);
    case "largest":
    case "smallest":
      return extremeRows(made.figure, made)
        .map((row) => labelOf(row, source))
        .join("; ");
  }
}

/** What a figure is made of. */
function workOut(wish: string, source: ResultSource): Chosen | Counted | null {
  const figure = figureIn(wish);
  if (figure === null || !source.whole || endsEarly(source.text)) return null;
  const exclusion = exclusionIn(wish);
  if (exclusion !== null) return workOutKept(exclusion, source, figure);
  return workOutOf(wish, source, figure, tableOf(source.text, source.name));
}

/** Whether the last line of a result says that it is not all. */
export function endsEarly(text: string): boolean {
  return linesOf(text).at(-1)?.startsWith("…[") === true;
}

/** The same of the rows that are left where a wish leaves some out. */
function workOutKept(exclusion: Exclusion, source: ResultSource, figure: Figure): Chosen | Counted | null {
  const table = entriesOf(source.text, source.name);
  const rows = table === null ? null : keptRows(exclusion, source.text, source.name, table);
  if (table === null || rows === null) return null;
  if (figure === "count") return { figure, count: rows.length, kind: "entry", rows };
  return workOutOf(exclusion.rest, source, figure, { ...table, rows });
}

function workOutOf(wish: string, source: ResultSource, asked: Figure, table: Table | null): Chosen | Counted | null {
  const figure = asked === "count" && sumsAmounts(wish, table, source.name) ? "sum" : asked;
  if (figure === "count") return count(wish, source, table);
  const chosen = table === null ? null : choose(wish, source, table, figure);
  return chosen === null || chosen.numbers.length === 0 ? null : chosen;
}

function sumsAmounts(wish: string, table: Table | null, name: string): boolean {
  const words = wordsOf(wish).map(({ bare }) => bare);
  const noun = words[placeOfCount(words) + 1] ?? "";
  return table !== null && !NOUN_OF.has(noun) && countsAmounts(noun, table, amountColumns(table, name), name);
}

// ── what the question is about ──

/** The rows and the column that a question names, or the only ones there are. Null where it names what is not there. */
function choose(wish: string, source: ResultSource, table: Table, figure: Chosen["figure"]): Chosen | null {
  const about = termsOf(wish, source);
  const said = new Set(wordsOf(wish).map(({ bare }) => stem(bare)));
  const names = table.columns.map((name) => termsIn(name));
  const numeric = amountColumns(table, source.name);
  const called = (by: Terms) => numeric.filter((at) => names[at]?.some((term) => by.has(term)));
  const own = called(about).length > 0 ? called(about) : called(said);
  const alike = called(alikeTerms(said));
  const isAlike = own.length === 0 && alike.length > 0;
  const named = isAlike ? alike : own;
  const terms = isAlike ? new Set([...about].filter((term) => !alikeTerms(said).has(term))) : about;
  // "Which week had the highest cash?": weeks are what is chosen among, also where they have numbers.
  const among = named.length > 1 ? chosenAmong(wish) : [];
  const picked = named.filter((at) => names[at]?.some((term) => among.includes(term)) !== true);
  const [column, ...more] = picked.length > 0 ? picked : numeric.filter((at) => !isIdentifier(table, at));
  if (column === undefined || more.length > 0) return null;
  const others = new Set([...terms].filter((term) => names[column]?.includes(term) !== true));
  const rows = filtered(table, table.rows, others, column)?.filter(({ cells }) => cells[column] !== "");
  if (rows === undefined) return null;
  const read = readQuantities(rows.flatMap(({ cells }) => numbersIn(cells[column] as string)));
  if (read === null) return null;
  const name = numericColumns(table).length > 1 ? (table.columns[column] as string) : "";
  return { figure, rows, ...read, column: name, leftOut: table.totals };
}

/** The rows that hold every term which some row holds; undefined where a term is in none of them. */
function filtered(
  { columns }: Table,
  rows: readonly TableRow[],
  terms: Terms,
  column: number | null,
): readonly TableRow[] | undefined {
  const names = new Set(columns.flatMap(termsIn));
  const held = rows.map(
    ({ cells }) => new Set(cells.flatMap((cell, at) => (at === column ? [] : [...termsIn(cell), ...monthTerms(cell)]))),
  );
  const wanted = [...terms].filter((term) => held.some((each) => each.has(term)));
  if ([...terms].some((term) => !names.has(term) && !wanted.includes(term))) return undefined;
  const found = rows.filter((_, at) => wanted.every((term) => held[at]?.has(term)));
  const cells = found.flatMap((row) => row.cells);
  return isOfSeveralYears(wanted, cells) ? undefined : found;
}

/** What a question says beside the figure, the file and the usual words. */
function termsOf(wish: string, source: ResultSource): Terms {
  const about = wordsOf(wish).filter(({ start, end }) => !isThing(wish.slice(start, end)));
  const named = new Set(termsIn(source.name));
  const terms = about.flatMap(({ bare }) => termsIn(bare));
  return new Set(terms.filter((term) => term.length > 1 && !NEUTRAL.has(term) && !named.has(term)));
}

// ── counting ──

/** How many lines, entries, files or folders there are, or of them hold what the question names. */
function count(wish: string, source: ResultSource, table: Table | null): Counted | null {
  const words = wordsOf(wish).map(({ bare }) => bare);
  const at = placeOfCount(words);
  const noun = words[at + 1] ?? "";
  // What a file is called after is what it lists: vaccinations.csv.
  const isNamed = !NOUN_OF.has(noun) && source.hasLines && termsIn(source.name).includes(stem(noun));
  const isListed = isNamed || (!NOUN_OF.has(noun) && noun !== "" && hasCell(table, stem(noun))); // Of members: "alto".
  const kind = isListed ? "entry" : words.slice(at + 1).flatMap((word) => NOUN_OF.get(word) ?? [])[0];
  const isPlain = isListed || NOUN_OF.has(noun) || (noun !== "" && fileKinds(table).has(stem(noun)));
  const terms = termsOf(wish, source);
  const told = new Set([...terms].filter((term) => term !== LOG));
  if (source.hasLines && kind !== "line" && told.size > 0 && isLog(source.name, source.text))
    return toldOf(told, source);
  if (kind === undefined || !isPlain) return null;
  if (kind === "word") {
    if (terms.size > 0 || !source.hasLines) return null;
    return { figure: "count", count: source.text.match(SPOKEN)?.length ?? 0, kind, rows: [] };
  }
  if (table !== null && kind !== "line") {
    const rows = rowsOfKind(table, kind);
    const found = rows === null ? undefined : filtered(table, rows, terms, null);
    return found === undefined ? null : counted(found, kind, terms);
  }
  if (kind === "row" || kind === "file" || kind === "folder") return null;
  const all = rowsOf(source);
  const lines = kind === "entry" && source.hasLines ? itemsAmong(all, source) : all;
  if (kind === "entry" && lines.length === 0) return null;
  const found = lines.filter(({ cells: [line = ""] }) => {
    const held = new Set(termsIn(line));
    return [...terms].every((term) => held.has(term));
  });
  return counted(found, kind, terms);
}

function counted(rows: readonly TableRow[], kind: Noun, terms: Terms): Counted {
  return { figure: "count", count: rows.length, kind, rows: terms.size > 0 ? rows : [] };
}

function rowsOf({ text }: ResultSource): TableRow[] {
  return linesOf(text).map((line, place) => ({ cells: [line], line: place + 1 }));
}

/**
 * The lines of a log that tell of all that a question names; null where one of it stands in no line, and may be said there in other
 * words.
 */
function toldOf(terms: Terms, source: ResultSource): Counted | null {
  const wanted = leveled(terms);
  const held = rowsOf(source).map((row) => ({ row, words: leveled(termsIn(row.cells.join(""))) }));
  // How bad something is a log says in these words and in no others.
  const isTold = (term: string) => LEVELS.has(term) || held.some(({ words }) => words.has(term));
  if (![...wanted].every(isTold)) return null;
  const found = held.filter(({ words }) => tellsAll(wanted, words));
  return counted(
    found.map(({ row }) => row),
    "line",
    terms,
  );
}

/** The word before what is counted: of "count how many files" the "many", of "count the lines" the "the". */
function placeOfCount(words: readonly string[]): number {
  const places = words.flatMap((word, at) => (FIGURE_OF.get(word) === "count" ? [at] : []));
  const before = places.map((at) => (ARTICLES.has(words[at + 1] ?? "") ? at + 1 : at));
  return before.find((at) => NOUN_OF.has(words[at + 1] ?? "")) ?? (before[0] as number);
}

/**
 * The lines with bullets, or those of what is a list by its name though it has none: each has few words and ends no sentence.
 */
function itemsAmong(lines: readonly TableRow[], source: ResultSource): readonly TableRow[] {
  const marked = lines.filter(({ cells: [line = ""] }) => BULLET.test(line));
  const filled = lines.filter(({ cells: [line = ""] }) => line.trim() !== "");
  const isList = termsIn(source.name).includes(LIST) && filled.length > 1;
  const isPlain = isList && filled.every(({ cells: [line = ""] }) => ITEM.test(line));
  return marked.length === 0 && isPlain ? filled : marked;
}

/** Endings of the files of a listing: "how many csv files". */
function fileKinds(table: Table | null): Terms {
  const names = table?.listing === true ? table.rows.flatMap(({ cells }) => cells.slice(0, 1)) : [];
  return new Set(names.map((name) => stem(name.toLowerCase().slice(name.lastIndexOf(".") + 1))));
}

function rowsOfKind({ listing, rows }: Table, kind: Noun): readonly TableRow[] | null {
  if (kind !== "file" && kind !== "folder") return rows;
  return listing ? rows.filter(({ cells }) => cells[1] === kind) : null;
}

// ── wording ──

function sayCount({ count, kind, rows }: Counted, source: ResultSource): string {
  const noun = count === 1 ? copy[`${kind}One`] : copy[`${kind}Many`];
  return `${say(copy.counted, { count: `${count}`, noun })} ${where(rows, source)}`;
}

function saySum(chosen: Chosen, source: ResultSource): string {
  const { numbers, rows, column } = chosen;
  const total = withUnit(add(numbers), chosen);
  const said =
    numbers.length > MOST_SHOWN
      ? say(copy.summedMany, { count: `${numbers.length}`, total })
      : numbers.length === 1
        ? say(copy.summedOne, { total })
        : say(copy.summed, { terms: numbers.map(asWritten).join(" + "), total });
  return `${said} ${where(rows, source, column)}${totals(chosen)}`;
}

function sayAverage(chosen: Chosen, source: ResultSource): string {
  const total = add(chosen.numbers);
  const { mean, isExact } = divide(total, chosen.numbers.length);
  const said = say(copy.averaged, {
    total: asWritten(total),
    count: `${chosen.numbers.length}`,
    sign: isExact ? "=" : "≈",
    mean: withUnit(mean, chosen),
  });
  return `${said} ${where(chosen.rows, source, chosen.column)}${totals(chosen)}`;
}

function sayExtreme(figure: "largest" | "smallest", chosen: Chosen, source: ResultSource): string {
  const found = extremeRows(figure, chosen);
  const value = withUnit(chosen.numbers[chosen.rows.indexOf(found[0] as TableRow)] as Quantity, chosen);
  const of = found.map((row) => labelOf(row, source)).join("; ");
  return `${say(copy[figure], { value, of })} ${where(found, source, chosen.column)}`;
}

/** The rows with the largest number, or with the smallest one. */
function extremeRows(figure: "largest" | "smallest", { numbers, rows }: Chosen): readonly TableRow[] {
  const scale = Math.max(...numbers.map((each) => each.scale));
  const sizes = numbers.map((each) => scaled(each, scale));
  const best = sizes.reduce((one, other) => ((figure === "largest" ? other > one : other < one) ? other : one));
  return rows.filter((_, at) => sizes[at] === best);
}

/** A row in an answer: its cells. An entry of a folder is its name. */
function labelOf({ cells }: TableRow, { hasLines }: ResultSource): string {
  return (hasLines ? cells.filter((cell) => cell !== "") : cells.slice(0, 1)).join(", ");
}

function totals({ leftOut }: Chosen): string {
  return leftOut.length > 0 ? `. ${copy.totalsLeftOut}` : "";
}

function withUnit(quantity: Quantity, { unit }: Chosen): string {
  return unit === "" ? asWritten(quantity) : `${asWritten(quantity)} ${unit}`;
}

function where(rows: readonly TableRow[], { name, hasLines }: ResultSource, column = ""): string {
  return cited(name, hasLines ? rows.flatMap(({ line }) => line ?? []) : [], column);
}

function say(sentence: string, values: Readonly<Record<string, string>>): string {
  return fill(sentence, (name) => values[name]);
}

function byWord<K extends string>(words: Readonly<Record<K, readonly string[]>>): ReadonlyMap<string, K> {
  const entries = Object.entries(words) as [K, readonly string[]][];
  return new Map(entries.flatMap(([kind, each]) => each.map((word) => [word, kind] as const)));
}
