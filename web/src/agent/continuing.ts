import limits from "../../../loop/limits.json" with { type: "json" };

/*
 * An answer that was cut off at the most tokens of a step, and goes on in the next one. The model begins again with the word in
 * which it was cut off, for it is told to go on after a whole one: half a word as the end of what it said would be taken for a
 * whole one as often as not.
 */

const LAST_WORD = /(?<=\s)\S+$/;
const SIGN = /[\p{L}\p{N}_]/u;

/** The word that a text ends in; none where it ends behind one, or in writing without spaces. */
export function unfinishedWord(text: string): string {
  const word = LAST_WORD.exec(text)?.[0] ?? "";
  return word.length <= limits.heldWordCharacters ? word : "";
}

/**
 * A text and how it goes on, as one; what was said before stays. While `more` may still be the unfinished word again, it is
 * nothing new.
 */
export function continued(before: string, more: string): string {
  const word = unfinishedWord(before);
  if (word.startsWith(more)) return before;
  if (more.startsWith(word)) return before + more.slice(word.length);
  const isApart = SIGN.test(before.slice(-1)) && SIGN.test(more.slice(0, 1));
  return `${before}${isApart ? " " : ""}${more}`;
}
