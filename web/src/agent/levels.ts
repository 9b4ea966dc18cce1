import { linesOf } from "./passages.ts";
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

/** The name of a file in which each line tells of something that happened. */
const LOGGED = /(?:^|\/)logs?\/|\.log$/i;
/** How such a line begins, whatever its file is called. */
const TIMED =
  /^[[(]?(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]?|[A-Z][a-z]{2} +[0-9]{1,2} |)[0-9]{2}:[0-9]{2}:[0-9]{2}|^\[?[A-Z]{4,8}\b[\]:]/;

/** Whether each line of a file tells of something that happened: by its name, or by how most of its lines begin. */
export function isLog(name: string, text: string): boolean {
  const lines = linesOf(text).filter((line) => line !== "");
  return LOGGED.test(name) || 2 * lines.filter((line) => TIMED.test(line)).length > lines.length;
}

/** Terms, with one for all words that say that something is as bad. */
export function leveled(terms: Iterable<string>): ReadonlySet<string> {
  return new Set([...terms].map((term) => LEVEL_OF.get(term) ?? term));
}

/** Whether a text with some terms has all that are wanted; of "errors and warnings", one. */
export function tellsAll(wanted: ReadonlySet<string>, terms: Iterable<string>): boolean {
  const told = leveled(terms);
  const levels = [...wanted].filter((term) => LEVELS.has(term));
  const isTold = levels.length === 0 || levels.some((term) => told.has(term));
  return isTold && [...wanted].every((term) => LEVELS.has(term) || told.has(term));
}
