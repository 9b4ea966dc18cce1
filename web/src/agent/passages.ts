import limits from "../../../loop/limits.json" with { type: "json" };
import { cut } from "./budget.ts";
import { documentOf, score, stem, termsIn } from "./ranking.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * The parts of a long text that a question is answered from, and where in a text an answer stands. A place is found by code and
 * never asked of a model: the lines that hold the answer's own words. What is not found there is given no place.
 */

/** Lines of a passage. Passages overlap by half, so that none cuts what belongs together. */
const AMOUNTS: ReadonlySet<string> = new Set(["much", "many"]);
const WINDOW = limits.passageLines;
/** Lines that a place may span. What stands further apart stands nowhere in particular. */
const MOST_PLACE = limits.placeLines;
/** Words of an answer that say nothing of where it comes from. */
const LIGHT: ReadonlySet<string> = new Set(vocabulary.lightWords.map(stem));
const NUMBER_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries(vocabulary.numberWords).map(([word, number]) => [word, String(number)]),
);

/** Lines of a text, counted from 1, both included. */
interface Place {
  readonly first: number;
  readonly last: number;
}

/** The lines of a text, without an empty one after the last. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/**
 * The whole text where it fits into `room` characters, else the passages that answer the question best, in their order, with
 * what is left out between them; the beginning, where no passage has anything of the question.
 */
export function fittingPassages(text: string, question: string, room: number): string {
  if (text.length <= room) return text;
  const lines = linesOf(text);
  const step = Math.max(1, Math.floor(WINDOW / 2));
  const starts = Array.from({ length: Math.ceil(lines.length / step) }, (_, at) => at * step);
  const passages = starts.map((at) => documentOf([[termsIn(lines.slice(at, at + WINDOW).join("\n")), 1]]));
  let kept: ReadonlySet<number> = new Set();
  for (const at of ranked(score(askedIn(question), passages))) {
    const start = starts[at] as number;
    const passage = lines.slice(start, start + WINDOW).map((_, place) => start + place);
    const wider = new Set([...kept, ...passage]);
    if (told(lines, wider).length <= room) kept = wider;
  }
  return kept.size > 0 ? told(lines, kept) : cut(text, room);
}

/**
 * The fewest lines that hold what an answer says, or null where no few lines hold half of it and every number of it. Where an
 * answer says more than the question did, only that counts; the question's own words decide between lines that are as good. The file's
 * `name` counts for nothing.
 */
export function placeOf(answer: string, question: string, text: string, name = ""): Place | null {
  const left = new Set([...termsIn(name), ...LIGHT]);
  const terms = new Set(termsIn(answer).filter((term) => !left.has(term)));
  const asked = new Set(termsIn(question));
  const fresh = [...terms].filter((term) => !asked.has(term));
  const own = fresh.length > 0 ? fresh : [...terms];
  const numbers = [...terms].filter((term) => /^[0-9]+$/.test(term));
  const lines = linesOf(text).map((line) => termsIn(line).filter((term) => terms.has(term) || asked.has(term)));
  let best: Place | null = null;
  let [found, most, width] = [0, 0, 0];
  for (let size = 1; size <= Math.min(MOST_PLACE, lines.length); size++)
    for (let at = 0; at + size <= lines.length; at++) {
      const held = new Set(lines.slice(at, at + size).flat());
      const said = own.filter((term) => held.has(term)).length;
      const isCloser = said === found && found > 0 && width === size && held.size > most;
      if ((said > found || isCloser) && numbers.every((number) => held.has(number))) {
        best = { first: at + 1, last: at + size };
        [found, most, width] = [said, held.size, size];
      }
    }
  return found * 2 >= own.length ? best : null;
}

/**
 * The line that a question plainly points at and of which an answer says nothing, or has other numbers; null where it says something,
 * or where no line stands out. Plainly is two words or more of the question, and more than in any other line, or all of the `query`
 * by which the file was found, in this line alone. The file's `name` counts for nothing.
 */
export function missedLine(answer: string, question: string, text: string, name = "", query = ""): number | null {
  const named = new Set(termsIn(name));
  const asked = new Set(askedIn(question).filter((term) => !named.has(term)));
  const sought = termsIn(query);
  const lines = linesOf(text).map((line) => [...new Set(termsIn(line))]);
  const held = lines.map((line) => {
    const isSought = sought.length > 0 && sought.every((term) => line.includes(term));
    return line.filter((term) => asked.has(term)).length + (isSought ? asked.size + 2 : 0);
  });
  const most = Math.max(0, ...held);
  const at = held.indexOf(most);
  if (most < 2 || held.lastIndexOf(most) !== at) return null;
  // "How much is the water bill" is answered by a line with a number, not by the title.
  if (termsIn(question).some((term) => AMOUNTS.has(term)) && !/[0-9]/.test(linesOf(text)[at] as string)) return null;
  const own = (lines[at] as string[]).filter((term) => !asked.has(term) && !sought.includes(term) && !LIGHT.has(term));
  const said = new Set(termsIn(answer));
  const numbers = own.filter((term) => /^[0-9]+$/.test(term));
  const isOfAnother =
    numbers.length > 0 && [...said].some((term) => /^[0-9]+$/.test(term)) && !numbers.some((term) => said.has(term));
  return own.length > 0 && (isOfAnother || !own.some((term) => said.has(term))) ? at + 1 : null;
}

/**
 * Whether an answer has no word but those of its question, such as "The hotel is in Lisbon" to "what is our hotel in Lisbon called?".
 * A question for a yes or a choice can be answered in its own words.
 */
export function repeatsQuestion(answer: string, question: string): boolean {
  const words = wordsOf(question).map(({ bare }) => bare.replace(/'s$/, ""));
  const isOpen =
    words.some((word) => vocabulary.questionOpeners.includes(word)) &&
    !words.some((word) => vocabulary.choosingWords.includes(word)) &&
    !vocabulary.yesNoWords.includes(words[0] as string);
  const said = termsIn(answer).filter((term) => !LIGHT.has(term));
  const asked = new Set(termsIn(question));
  return isOpen && said.length > 0 && said.every((term) => asked.has(term));
}

/** Numbers of the lines that hold most of a question's terms, in their order; the first ones where none does. */
export function closestLines(text: string, question: string, most: number): number[] {
  const lines = linesOf(text);
  const scores = score(
    askedIn(question),
    lines.map((line) => documentOf([[termsIn(line), 1]])),
  );
  const closest = ranked(scores).slice(0, most);
  const places = closest.length > 0 ? closest : lines.slice(0, most).map((_, at) => at);
  return places.map((at) => at + 1).toSorted((one, other) => one - other);
}

/** Whether an answer holds a number that none of its sources does: one that was computed, made up, or taken from elsewhere. */
export function inventsNumber(answer: string, sources: readonly string[]): boolean {
  const words = sources.flatMap((source) => source.toLowerCase().match(/[a-z]+/g) ?? []);
  const told = new Set([...sources.flatMap(numbersIn), ...words.map((word) => NUMBER_WORDS.get(word))]);
  return numbersIn(answer).some((number) => !told.has(number));
}

/** Its numbers without separators, and without decimals that say nothing. */
function numbersIn(text: string): string[] {
  return (text.match(/[0-9]+(?:[.,][0-9]+)*/g) ?? []).map((found) => {
    const digits = found
      .replace(/[.,]0+$/, "")
      .replaceAll(/[.,]/g, "")
      .replace(/^0+/, "");
    return digits === "" ? "0" : digits;
  });
}

function askedIn(question: string): string[] {
  return termsIn(question).filter((term) => !LIGHT.has(term));
}

/** The places of the scores above 0, the best first. */
function ranked(scores: readonly number[]): number[] {
  const places = scores.flatMap((each, at) => (each > 0 ? [at] : []));
  return places.toSorted((one, other) => (scores[other] as number) - (scores[one] as number));
}

/** These lines, with what is left out before, between and after them. */
function told(lines: readonly string[], kept: ReadonlySet<number>): string {
  const parts: string[] = [];
  let leftOut = 0;
  const skip = () => {
    if (leftOut > 0) parts.push(`…[left out ${leftOut} ${leftOut === 1 ? "line" : "lines"}]`);
    leftOut = 0;
  };
  lines.forEach((line, at) => {
    if (!kept.has(at)) {
      leftOut++;
      return;
    }
    skip();
    parts.push(line);
  });
  skip();
  return parts.join("\n");
}
