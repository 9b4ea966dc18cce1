import { ACTS } from "./acts.ts";
import type { ResultSource } from "./figures.ts";
import { linesOf } from "./passages.ts";
import { asksForSummary } from "./questions.ts";
import { standsIn, stem, termsIn } from "./ranking.ts";
import { tableOf } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Whether an answer can be one to its question: where the file has little of what the question speaks of, where other lines have it,
 * or where a number is asked for and none is told, there is none, though a small model always gives one.
 *
 * "What is the wifi password?" was answered with the first line of a note that has no password.
 */

const WORDING: ReadonlySet<string> = new Set(vocabulary.explainingVerbs);
const LIGHT: ReadonlySet<string> = new Set(vocabulary.lightWords.map(stem));
/** Terms of a question that a file need not have to answer it. */
const UNTOLD: ReadonlySet<string> = new Set([
  ...LIGHT,
  ...[
    ...vocabulary.askingWords,
    ...vocabulary.commonTerms,
    ...vocabulary.contentVerbs,
    ...vocabulary.phraseEnds,
    ...vocabulary.linkWords,
    ...vocabulary.figureNouns,
    ...vocabulary.weakWords,
    ...vocabulary.vagueWords,
    ...Object.values(vocabulary.picks).flat(),
    ...ACTS.flatMap(([, { verbs, claims }]) => [...verbs, ...claims]),
  ].map(stem),
]);
const ALIKE: ReadonlySet<string> = new Set(vocabulary.sameColumns.flat().map(stem));
const NUMBERS: ReadonlySet<string> = new Set([...Object.keys(vocabulary.numberWords), ...vocabulary.negations]);
const MEASURES: ReadonlySet<string> = new Set(["much", "many", "old"]);
const NUMBERED: ReadonlySet<string> = new Set(["number", "phone", "telephone"]);
const LABELLED: ReadonlySet<string> = new Set(vocabulary.labelledAttributes.map(stem));
const OTHER_LABELS: ReadonlySet<string> = new Set(vocabulary.otherLabels.map(stem));
const ENTRY = /^[ \t]*(?:[-*+•]|[0-9]{1,3}[.)]) /;
const JOINED: ReadonlySet<string> = new Set(["and", "or", "than"]);
/** Lines between what a question speaks of and what answers it. */
const NEAR = 2;

/** Whether an answer out of a file is none to its question. What is explained or told in short is of all lines. */
export function isBesideQuestion(answer: string, question: string, source: ResultSource): boolean {
  const isWorded = wordsOf(question).some(({ bare }) => WORDING.has(bare)) || asksForSummary(question);
  if (!source.hasLines || isWorded) return false;
  const asked = spokenOf(question, source.name);
  const lines = linesOf(source.text).map((line) => new Set(termsIn(line)));
  const held = asked.filter((term) => lines.some((line) => standsIn(term, line)));
  const known = asked.filter((term) => held.includes(term) || ALIKE.has(term));
  if (2 * known.length < asked.length || lacksNumber(answer, question)) return true;
  if (isLabelledOtherwise(answer, question, linesOf(source.text))) return true;
  return mixesRows(held, question, source) || standsApart(answer, question, held, lines, source);
}

/** The terms of a question that tell something, beside those that call the file. */
function spokenOf(question: string, name: string): string[] {
  const called = new Set(termsIn(name));
  const told = [...new Set(termsIn(question))].filter((term) => !UNTOLD.has(term) && !/^[0-9]+$/.test(term));
  return told.filter((term) => !standsIn(term, called));
}

/** Whether a number is asked for, and the answer has none and denies none. */
function lacksNumber(answer: string, question: string): boolean {
  const words = wordsOf(question).map(({ bare }) => bare.replace(/'s$/, ""));
  const isMeasured = words.some((word, at) => at > 0 && words[at - 1] === "how" && MEASURES.has(word));
  const isAsked = isMeasured || (words[0] === "what" && words.some((word) => NUMBERED.has(word)));
  const isDenied = wordsOf(answer).some(({ bare }) => NUMBERS.has(bare) || /n['’]t$/.test(bare));
  return isAsked && !isDenied && !/[0-9]/.test(answer);
}

/**
 * Whether a label says that its value is none of those that a question asks for: the date of a bill is not its deadline, and the
 * number of an invoice nobody's phone number.
 */
export function isOtherLabel(asked: readonly string[], label: string): boolean {
  const wanted = asked.filter((term) => LABELLED.has(term));
  const terms = termsIn(label);
  return (
    wanted.length > 0 && !terms.some((term) => wanted.includes(term)) && terms.some((term) => OTHER_LABELS.has(term))
  );
}

/** Whether the numbers of an answer stand only behind labels of other things than what is asked for. */
function isLabelledOtherwise(answer: string, question: string, lines: readonly string[]): boolean {
  const asked = termsIn(question);
  const told = termsIn(answer).filter((term) => /[0-9]/.test(term) && !asked.includes(term));
  const bearing = told.length === 0 ? [] : lines.filter((line) => told.every((term) => termsIn(line).includes(term)));
  return bearing.length > 0 && bearing.every((line) => isOtherLabel(asked, /^([^:]*):/.exec(line)?.[1] ?? ""));
}

/** Whether a question puts together what stands in different rows of a table: what the price of somebody's is that is another one's. */
function mixesRows(held: readonly string[], question: string, { name, text }: ResultSource): boolean {
  const table = tableOf(text, name);
  const isSeveral = wordsOf(question).some(({ bare }) => JOINED.has(bare));
  if (table === null || table.columns.length === 0 || table.listing || isSeveral) return false;
  const columns = new Set(table.columns.flatMap(termsIn));
  const rows = table.rows.map(({ cells }) => new Set(termsIn(cells.join(" "))));
  const told = held.filter((term) => !standsIn(term, columns) && rows.some((row) => row.has(term)));
  return told.length > 0 && !rows.some((row) => told.every((term) => row.has(term)));
}

/** Whether what an answer adds stands in other lines than what is asked about, and not beside them. Of a list, each entry is by itself. */
function standsApart(
  answer: string,
  question: string,
  held: readonly string[],
  lines: readonly ReadonlySet<string>[],
  { text }: ResultSource,
): boolean {
  const written = linesOf(text);
  const isHeaded = (at: number) => at === 0 || /^(?:#|subject:)/i.test(written[at] as string);
  const places = lines.map((line, at) => ({ line, at }));
  const about = places.filter(({ line, at }) => !isHeaded(at) && held.some((term) => standsIn(term, line)));
  const known = new Set([...termsIn(question), ...LIGHT]);
  const added = termsIn(answer).filter((term) => !known.has(term));
  const said = places.filter(({ line }) => added.some((term) => line.has(term)));
  const isEntry = (at: number) => ENTRY.test(written[at] as string);
  const isFar = about.every((one) =>
    said.every((two) => Math.abs(one.at - two.at) > (isEntry(one.at) && isEntry(two.at) ? 0 : NEAR)),
  );
  return about.length > 0 && said.length > 0 && isFar;
}
