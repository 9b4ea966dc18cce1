import { entriesOf } from "./entries.ts";
import { exclusionIn, keptRows } from "./exclusions.ts";
import type { ResultSource } from "./figures.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * What is still open, in the words by which rows are told apart: "how much do I still have to pay?" asks for the total of what is not
 * paid, "how many chores are left?" for the number of those that are not done.
 *
 * It counts only where a column of yes and no, or the boxes of a list, say so; "how many teapots are left?" is a number of a stock
 * list.
 */

const LEADS = anyOf(vocabulary.obligedLeads);
const STILL_TO = new RegExp(
  `\\b(?:still (?:${LEADS}|to)|(?:${LEADS}) still|(?:${anyOf(vocabulary.yesNoWords)}) (?:still|yet) to) (?:be )?([a-z]+)`,
  "gi",
);
const LEFT = new RegExp(
  `\\b(?:is|are) (?:still )?(?:${anyOf(vocabulary.stillWords)})(?= *[?.!]*$| (?:${anyOf(vocabulary.leadingPrepositions)}) )`,
  "gi",
);
const AMOUNT = /\bhow much\b/gi;
const NEGATED = new RegExp(`\\b(?:${anyOf(Object.keys(vocabulary.negatedWords))})\\b`, "i");
const STATES = ["done", "paid"];
const PARTICIPLES: ReadonlyMap<string, string> = new Map(
  Object.entries(wishWords.irregularForms).map(([form, verb]) => [verb, form]),
);

/** A wish for what is still open as one for what is not done; the wish as it is where the file does not tell that. */
export function withOpenRead(wish: string, source: ResultSource): string {
  const left = wish.replaceAll(
    STILL_TO,
    (_, verb: string) => `not done ${PARTICIPLES.get(verb.toLowerCase()) ?? verb}`,
  );
  const readings = STATES.map((state) => left.replaceAll(LEFT, `are not ${state}`));
  const isAmount = wish.search(AMOUNT) >= 0 && NEGATED.test(wish);
  if (readings[0] === wish && !isAmount) return wish;
  const told = readings.map((reading) => reading.replaceAll(AMOUNT, "total"));
  return told.find((reading) => isTold(reading, source)) ?? wish;
}

/** Whether the file says of each row whether it is so. */
function isTold(reading: string, { name, text }: ResultSource): boolean {
  const exclusion = exclusionIn(reading);
  const table = entriesOf(text, name);
  return exclusion !== null && table !== null && keptRows(exclusion, text, name, table) !== null;
}
