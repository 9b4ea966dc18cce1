import { vocabulary } from "./vocabulary.ts";

/*
 * The words that people type most, by what comes out where two letters change places or one is left out: "shwo", "remve".
 */

/** Letters of a word that is still told where one of them is missing. Of a shorter one that is often another word: "red". */
const LONG = 6;

/** A slip that two words share is that of the first one, and no slip is a word of its own. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ...vocabulary.oftenTyped
    .toReversed()
    .flatMap((word) => slipsOf(word).map((slip) => [slip, word] as const))
    .filter(([slip]) => ![...vocabulary.oftenTyped, ...vocabulary.noSlips].includes(slip)),
  ...Object.entries(vocabulary.unmarked),
]);

/** The word that was meant, as it is written without a slip; any other as it is. */
export function meantBy(word: string): string {
  return MEANT.get(word) ?? word;
}

function slipsOf(word: string): string[] {
  const places = Array.from(word, (_, at) => at);
  const swapped = places
    .slice(1)
    .map((at) => `${word.slice(0, at - 1)}${word.charAt(at)}${word.charAt(at - 1)}${word.slice(at + 1)}`);
  const shortened = places.slice(1, -1).map((at) => `${word.slice(0, at)}${word.slice(at + 1)}`);
  return word.length >= LONG ? [...swapped, ...shortened] : swapped;
}
