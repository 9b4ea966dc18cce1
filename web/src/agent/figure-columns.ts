import { stem, termsIn } from "./ranking.ts";
import type { Table } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/* Which column of a table a question for a number means, and where its words ask for a text. */

const IDENTIFIERS: ReadonlySet<string> = new Set(vocabulary.identifiers);
const SERVED: ReadonlySet<string> = new Set(vocabulary.servedNouns);
const SERVING: ReadonlySet<string> = new Set(vocabulary.servingVerbs);
/** Words of a question, and what a column with the answer may be called. */
const ALIKE = vocabulary.sameColumns.map((group) => group.map(stem));

/** Whether the numbers of a column only tell its rows apart. */
export function isIdentifier({ columns }: Table, column: number): boolean {
  return wordsOf(columns[column] ?? "").some(({ bare }) => IDENTIFIERS.has(bare));
}

/** The thing that "which" or "what" at the beginning asks for. */
export function chosenAmong(wish: string): string[] {
  const said = wordsOf(wish).map(({ bare }) => bare);
  return ["which", "what"].includes(said[0] as string) ? said.slice(1, 2).flatMap(termsIn) : [];
}

/** What a column may be called that a question calls by another word: the price of what "costs". */
export function alikeTerms(said: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(ALIKE.filter((group) => group.some((term) => said.has(term))).flat());
}

/**
 * Whether how many there are of something is the sum of a column: of beds that have "seeds", how many seeds. The first column says
 * what a row is.
 */
export function countsAmounts(noun: string, { columns }: Table, numeric: readonly number[], name: string): boolean {
  const term = stem(noun);
  const isNamed = numeric.some((at) => at > 0 && termsIn(columns[at] ?? "").includes(term));
  return isNamed && !termsIn(name).includes(term);
}

/**
 * Whether it is asked for how many something is meant, which the text says and no count of its lines: "how many people is the lasagne
 * for", "how many does it serve". `rest` is what stands after "many".
 */
export function asksForWhom(rest: readonly string[]): boolean {
  const isEnd = (at: number) => at === rest.length - 1 || rest[at + 1] === "in";
  const isMeant = rest.some((word, at) => SERVING.has(word) || (word === "for" && isEnd(at)));
  return isMeant && SERVED.has(rest[0] as string);
}
