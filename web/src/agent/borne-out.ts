import { bareThing, isThing } from "./acts.ts";
import { linesOf } from "./passages.ts";
import { add, asWritten, divide, numbersIn, type Quantity, readQuantities, type WrittenNumber } from "./quantities.ts";
import { stem, termsIn } from "./ranking.ts";
import { sentencesOf } from "./sentences.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * What an answer says that nothing shown bears out: a number, a file, a quotation, a name or a reason that stands in no result, in
 * nothing the person said and in no call of the turn. A small model fills what it did not find with what its examples say. Numbers that code can
 * work out of the results are borne out: a count of lines, a sum or a mean of numbers that stand below each other, all of them or
 * those of rows with a word in common, and what two amounts come to together or differ by.
 */

const NUMBER = /[0-9]+(?:[.,:][0-9]+)*/g;
const GROUPED = /^[0-9]{1,3}(?:[.,][0-9]{3})+$/;
/** What parts the cells of a row. A comma between a digit and three more is one of thousands. */
const PARTED = /[\t|;]|,(?=[^ ])(?!(?<=[0-9],)[0-9]{3}(?![0-9]))/;
const LETTER = /\p{L}/u;
const OWNED = /['’]s?$/;
const STARTS = /[:*•>–—-]$/;
const NUMBER_WORDS = Object.entries(vocabulary.numberWords).map(([word, number]) => [word, String(number)] as const);
const COUNTS: ReadonlyMap<string, string> = new Map(NUMBER_WORDS.filter(([, number]) => number !== "1"));
/** Before a number in words that goes back to what was told: "the two". */
const THE: ReadonlySet<string> = new Set(vocabulary.pluralArticles);
const MONTHS = vocabulary.months.flatMap((names, at) => names.map((name) => [stem(name), String(at + 1)] as const));
const TITLES: ReadonlySet<string> = new Set(
  [...vocabulary.titles, ...Object.keys(vocabulary.currencyWords), ...vocabulary.currencyCodes].map(stem),
);
const CAPITALISING: ReadonlySet<string> = new Set(vocabulary.capitalisingWords);
const LIGHT: ReadonlySet<string> = new Set(vocabulary.lightWords.flatMap(termsIn));
const NEGATIONS: ReadonlySet<string> = new Set(vocabulary.negations);
const REASON = new RegExp(`\\b(?:${anyOf(vocabulary.reasonLinks)}) ([^.;!?\\n]+)`, "gi");
const SHORTEST_NAME = 2;
/** Of more, nearly every number is what some two come to. */
const MOST_AMOUNTS = 12;
const MOST_LINES = 500;

/** What a text says that no source does, as it is written and in the order of its kinds; nothing where all is borne out. */
export function unsupportedIn(text: string, sources: readonly string[]): string[] {
  const said = [...text.matchAll(QUOTED)].map(([quoted]) => quoted.slice(1, -1));
  let plain = text.replaceAll(QUOTED, " ");
  const things = wordsOf(plain).map(({ start, end }) => bareThing(plain.slice(start, end)));
  const named = things.filter((thing) => isThing(thing) && LETTER.test(thing));
  for (const thing of named) plain = plain.replaceAll(thing, " ");
  const flat = sources.map(flatOf).join(" ");
  const written = sources.join("\n").toLowerCase();
  const missing = [
    ...said.filter((each) => !flat.includes(flatOf(each))),
    ...named.filter((each) => !written.includes(lastOf(each.toLowerCase()))),
    ...numbersMissing(plain, sources),
    ...namesMissing(plain, sources),
    ...reasonsMissing(text, sources),
  ];
  return [...new Set(missing)];
}

function lastOf(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) as string;
}

function numbersMissing(text: string, sources: readonly string[]): string[] {
  const written = writtenNumbers(text);
  const bare = wordsOf(text).map((word) => word.bare);
  const counted = bare.filter((word, at) => COUNTS.has(word) && !THE.has(bare[at - 1] ?? ""));
  if (written.length === 0 && counted.length === 0) return [];
  const terms = new Set(sources.flatMap(termsIn));
  const words = new Set(sources.flatMap((source) => wordsOf(source).map(({ bare }) => bare)));
  const held = new Set([
    ...numbersOf(sources),
    "1",
    ...NUMBER_WORDS.flatMap(([word, number]) => (words.has(word) ? [number] : [])),
    ...MONTHS.flatMap(([month, number]) => (terms.has(month) ? [number] : [])),
    ...reckonedOf(sources),
  ]);
  return [
    ...written.filter((each) => !held.has(plainNumber(each))),
    ...counted.filter((each) => !held.has(COUNTS.get(each) as string)),
  ];
}

/** Words with a capital inside a sentence. In German every noun has one. */
function namesMissing(text: string, sources: readonly string[]): string[] {
  const german = new Set(wordsOf(text).flatMap(({ bare }) => (CAPITALISING.has(bare) ? [bare] : [])));
  if (german.size > 1) return [];
  const numbers = numbersOf(sources);
  const months = MONTHS.flatMap(([month, number]) => (numbers.has(number) ? [month] : []));
  const held = new Set([...sources.flatMap(termsIn), ...months, ...TITLES]);
  const missing: string[] = [];
  for (const sentence of sentencesOf(text)) {
    let before = ":";
    for (const { start, end } of wordsOf(sentence)) {
      const written = sentence.slice(start, end);
      const name = bareThing(written).replace(OWNED, "");
      const isStart = STARTS.test(before) || /[-*•] *$/.test(sentence.slice(0, start));
      before = written;
      const isName = /^\p{Uppercase}/u.test(name) && name.length >= SHORTEST_NAME && !isStart;
      if (isName && !termsIn(name).every((term) => held.has(term))) missing.push(name);
    }
  }
  return missing;
}

/** Reasons of which no source says the half. That something is not there is one that no result says. */
function reasonsMissing(text: string, sources: readonly string[]): string[] {
  const held = new Set(sources.flatMap(termsIn));
  return [...text.matchAll(REASON)].flatMap(([whole, reason = ""]) => {
    const terms = [...new Set(termsIn(reason))].filter((term) => !LIGHT.has(term));
    const isDenial = wordsOf(reason).some(({ bare }) => NEGATIONS.has(bare) || /n['’]t$/.test(bare));
    return !isDenial && 2 * terms.filter((term) => !held.has(term)).length > terms.length ? [whole.trim()] : [];
  });
}

/** The numbers that are written, those side by side in a row too. */
function numbersOf(sources: readonly string[]): Set<string> {
  const found = sources.flatMap(writtenNumbers);
  return new Set(found.flatMap((number) => [number, ...number.split(",")]).map(plainNumber));
}

/** The numbers in a text, as they are written. */
export function writtenNumbers(text: string): string[] {
  return text.match(NUMBER) ?? [];
}

/** The cells of a row; a line that is none as it is. */
export function cellsIn(line: string): string[] {
  return line.split(PARTED);
}

function flatOf(text: string): string {
  return wordsOf(text)
    .map(({ bare }) => bare)
    .join(" ");
}

/** A number without separators of thousands, without a nought that says nothing, and with a point before its decimals. */
export function plainNumber(number: string): string {
  if (GROUPED.test(number)) return withoutNoughts(number.replaceAll(/[.,]/g, ""));
  const at = Math.max(number.lastIndexOf("."), number.lastIndexOf(","));
  if (at < 0 || number.includes(":")) return withoutNoughts(number);
  const decimals = number.slice(at + 1).replace(/0*$/, "");
  const head = withoutNoughts(number.slice(0, at).replaceAll(/[.,]/g, ""));
  return decimals === "" ? head : `${head}.${decimals}`;
}

function withoutNoughts(number: string): string {
  return number.replace(/^0+/, "") || "0";
}

/** The numbers that code can work out of these texts. */
export function reckonedOf(sources: readonly string[]): string[] {
  const found: string[] = [];
  const amounts: WrittenNumber[] = [];
  for (const source of sources) {
    const lines = linesOf(source)
      .slice(0, MOST_LINES)
      .filter((line) => line.replaceAll(" ", "") !== "");
    found.push(...countsIn(lines));
    const columns = new Map<string, WrittenNumber[]>();
    for (const line of lines) {
      const numbers = cellsIn(line).flatMap(numbersIn);
      amounts.push(...numbers.filter(({ unit, digits }) => unit !== "" || !/^[0-9]+$/.test(digits)));
      for (const [place, number] of numbers.entries())
        for (const group of new Set(["", ...termsIn(line)])) {
          const key = `${place} ${group}`;
          columns.set(key, [...(columns.get(key) ?? []), number]);
        }
    }
    for (const column of columns.values()) found.push(...sumsOf(column));
  }
  return [...found, ...pairsOf(amounts)];
}

/** How many lines there are, without a heading too, how many begin alike, and how long a list in one is. */
function countsIn(lines: readonly string[]): string[] {
  const counts = [lines.length, lines.length - 1, ...lines.map((line) => line.split(",").length)];
  for (const key of [(line: string) => line.split(" ").slice(0, 1), (line: string) => [line.slice(0, 3)], termsIn]) {
    const held = new Map<string, number>();
    for (const line of lines) for (const each of new Set(key(line))) held.set(each, (held.get(each) ?? 0) + 1);
    counts.push(...held.values());
  }
  return counts.filter((count) => count > 1).map(String);
}

function sumsOf(column: readonly WrittenNumber[]): string[] {
  const read = readQuantities(column.map((each) => ({ ...each, unit: "" })));
  if (read === null || column.length < 2) return [];
  const total = add(read.numbers);
  return [total, divide(total, column.length).mean].map((each) => plainNumber(asWritten(each)));
}

/** What two amounts come to, or differ by; nothing where there are so many that any number would be among them. */
function pairsOf(amounts: readonly WrittenNumber[]): string[] {
  const several = new Map(amounts.map((each) => [each.digits, { ...each, negative: false, unit: "" }]));
  const read = readQuantities([...several.values()]);
  if (read === null || several.size > MOST_AMOUNTS) return [];
  const results = read.numbers.flatMap((one, at) =>
    read.numbers.slice(at + 1).flatMap((other) => [add([one, other]), add([one, negated(other)])]),
  );
  return results.map(({ units, scale }) => plainNumber(asWritten({ units: units < 0n ? -units : units, scale })));
}

function negated({ units, scale }: Quantity): Quantity {
  return { units: -units, scale };
}
