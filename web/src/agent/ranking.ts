import limits from "../../../loop/limits.json" with { type: "json" };
import { vocabulary } from "./vocabulary.ts";

/* How well texts answer a question: BM25 over terms, without a dictionary, alike in both languages. */

const SATURATION = limits.termSaturation;
const LENGTH_SHARE = limits.lengthShare;

const COMMON: ReadonlySet<string> = new Set(vocabulary.commonTerms);
/** Letters of a term that another one may go on from: "cancelled" and "cancel". */
const LEAST = 4;

/** What a text is made of: how often each term stands in it, and how many there are. */
export interface Document {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

/** A document made of terms, each with how much it weighs. */
export function documentOf(weighted: readonly (readonly [terms: readonly string[], weight: number])[]): Document {
  const counts = new Map<string, number>();
  for (const [terms, weight] of weighted) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + weight);
  return { counts, length: sum([...counts.values()]) };
}

/** The words and figures of a text that tell something, each without its ending. */
export function termsIn(text: string): string[] {
  const found = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return found.filter((term) => !COMMON.has(term)).map(stem);
}

/** A term without the ending of an English plural or verb. */
export function stem(term: string): string {
  return /^(.{3,}?)(?:ing|ed|es|s|e)$/u.exec(term)?.[1] ?? term;
}

/** Whether a term is among those held, or one of the two goes on from the other. */
export function standsIn(term: string, held: ReadonlySet<string>): boolean {
  return held.has(term) || [...held].some((each) => goesOn(term, each));
}

function goesOn(one: string, two: string): boolean {
  const [shorter, longer] = one.length <= two.length ? [one, two] : [two, one];
  return shorter.length >= LEAST && longer.startsWith(shorter);
}

/** How well each document answers the query, in their order; 0 where it holds none of its terms. */
export function score(query: readonly string[], documents: readonly Document[]): number[] {
  const mean = Math.max(1, sum(documents.map(({ length }) => length)) / Math.max(1, documents.length));
  const weights = [...new Set(query)].map((term) => {
    const having = documents.filter(({ counts }) => counts.has(term)).length;
    return [term, rarity(having, documents.length)] as const;
  });
  return documents.map(({ counts, length }) => {
    const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / mean);
    return sum(
      weights.map(([term, weight]) => {
        const count = counts.get(term) ?? 0;
        return (weight * count * (SATURATION + 1)) / (count + norm);
      }),
    );
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Rounded, because logarithms differ in their last digit from one machine to the next, and the choice must not. */
function rarity(having: number, all: number): number {
  return Math.floor(Math.log(1 + (all - having + 0.5) / (having + 0.5)) * 1e6 + 0.5) / 1e6;
}
