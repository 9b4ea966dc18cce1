import { stem } from "./ranking.ts";
import { vocabulary } from "./vocabulary.ts";

/*
 * Words that say how bad something is, in a log and in a question: "WARN" and "warnings" are one.
 */

const LEVEL_OF = new Map(
  Object.entries(vocabulary.logLevels).flatMap(([level, words]) =>
    words.map((word) => [stem(word), stem(level)] as const),
  ),
);
export const LEVELS: ReadonlySet<string> = new Set(LEVEL_OF.values());

/** Terms, with one for all words that say that something is as bad. */
export function leveled(terms: Iterable<string>): ReadonlySet<string> {
  return new Set([...terms].map((term) => LEVEL_OF.get(term) ?? term));
}

/** Whether a text with some terms has all that are wanted. */
export function tellsAll(wanted: ReadonlySet<string>, terms: Iterable<string>): boolean {
  const told = leveled(terms);
  return [...wanted].every((term) => told.has(term));
}
