import { cellsIn, plainNumber, reckonedOf, writtenNumbers } from "./borne-out.ts";
import type { ToolMessage } from "./messages.ts";
import { linesOf } from "./passages.ts";
import { termsIn } from "./ranking.ts";
import { sentencesOf } from "./sentences.ts";
import { matchOf } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Numbers of an answer that stand in a result, but of something else: in the row of another name, or in the paper of another month.
 * Only where it is plain: a row of a table whose name the answer says has another number, or a question is about one month and the
 * number stands with other months alone. What can be counted or added up is left alone.
 */

/** Where numbers stand: a row of a table, or all of a text. `months` are those that it tells. */
interface Place {
  readonly terms: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
  readonly months: ReadonlySet<number>;
}

const LETTER = /\p{L}/u;
const DATED = /(?<![0-9])[12][0-9]{3}-([01][0-9])(?![0-9])/g;
const MONTHS = new Map(vocabulary.months.flatMap((names, at) => names.map((name) => [name, at + 1] as const)));
const BEFORE_MONTH: ReadonlySet<string> = new Set(vocabulary.leadingPrepositions);
const FEWEST_ROWS = 3;
const FEWEST_CELLS = 2;

/** The numbers of an answer to a question that the results have of something else alone, as they are written. */
export function valuesElsewhere(text: string, question: string, closed: readonly ToolMessage[]): string[] {
  const done = closed.filter(({ result }) => result.outcome === "ok");
  const tables = done.map(tableIn).filter((table) => table.length > 0);
  const texts = done.filter((each) => tableIn(each).length === 0).flatMap(textsIn);
  const counted = reckonedOf(done.map(({ result }) => result.content));
  const known = new Set([...counted, ...writtenNumbers(question).map(plainNumber)]);
  const months = monthsIn(question);
  const isElsewhere = (number: string, sentence: string) => {
    const places = [...tables.flat(), ...texts].filter(({ numbers }) => numbers.has(number));
    if (known.has(number) || places.length === 0) return false;
    const isOther = (place: Place) => place.months.size > 0 && ![...place.months].some((month) => months.has(month));
    if (months.size === 1 && places.every(isOther)) return true;
    const inText = texts.some(({ numbers }) => numbers.has(number));
    return !inText && tables.some((table) => isOfOtherRow(number, [sentence, question], table));
  };
  const found = sentencesOf(text).flatMap((sentence) =>
    writtenNumbers(sentence).filter((written) => isElsewhere(plainNumber(written), sentence)),
  );
  return [...new Set(found)];
}

/** Whether rows of a table are told by what is said, and the number stands in others alone. */
function isOfOtherRow(number: string, said: readonly string[], table: readonly Place[]): boolean {
  for (const text of said) {
    const telling = termsIn(text).filter((term) => LETTER.test(term) && table.some((row) => !row.terms.has(term)));
    const meant = table.filter(({ terms }) => telling.some((term) => terms.has(term)));
    if (meant.length > 0) return meant.length < table.length && !meant.some(({ numbers }) => numbers.has(number));
  }
  return false;
}

/** The rows of a result that is a table, without their heading; none where it is none. */
function tableIn({ result }: ToolMessage): Place[] {
  const lines = linesOf(result.content).filter((line) => line.replaceAll(" ", "") !== "");
  const sizes = new Set(lines.map((line) => cellsIn(line).length));
  const isTable = sizes.size === 1 && lines.length > FEWEST_ROWS && Math.min(...sizes) >= FEWEST_CELLS;
  return isTable ? lines.slice(1).map(placeOf) : [];
}

/** The texts of a result: each line that a search found, with its file; else all, with what the call was given. */
function textsIn({ call, result }: ToolMessage): Place[] {
  const lines = linesOf(result.content);
  if (lines.some((line) => matchOf(line) !== null)) return lines.map(placeOf);
  const numbers = new Set(writtenNumbers(result.content).map(plainNumber));
  const months = monthsIn(`${JSON.stringify(call.arguments)}\n${result.content}`);
  return [{ terms: new Set(termsIn(result.content)), numbers, months }];
}

function placeOf(text: string): Place {
  const numbers = writtenNumbers(text).flatMap((number) => [number, ...number.split(",")]);
  return { terms: new Set(termsIn(text)), numbers: new Set(numbers.map(plainNumber)), months: monthsIn(text) };
}

/** The months that a text tells, by name or in a date. A "may" that only allows something is none. */
function monthsIn(text: string): Set<number> {
  const found = new Set([...text.matchAll(DATED)].map(([, month]) => Number(month)));
  let before = "";
  for (const { start, end, bare } of wordsOf(text)) {
    const isCapital = /^["'(*#-]*\p{Uppercase}/u.test(text.slice(start, end));
    const month = MONTHS.get(bare);
    if (month !== undefined && (isCapital || BEFORE_MONTH.has(before) || /^[0-9]+$/.test(before))) found.add(month);
    before = bare;
  }
  return found;
}
