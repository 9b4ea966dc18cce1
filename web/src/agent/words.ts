import { meantBy } from "./typing-slips.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/** What is quoted, and so no word of the person's own. */
export const QUOTED = /"[^"\n]*"|`[^`\n]*`|“[^”\n]*”|(?<![A-Za-z0-9])'[^'\n]*'(?![A-Za-z0-9])/g;
const WORD = /[^ \t\r\n\f\v\u00a0\u2028\u2029\u3000;]+/g;

/** How the name of a file or a folder looks: with its ending, or with a slash at the end. */
const SPACED = /^[^ \n](?:[^\n]*[^ ./\n])?(?:\/|\.[A-Za-z][A-Za-z0-9]{0,9})$/;
/** What shows that it is none: a stop inside, an address, "9 p.m", more than six words. */
const WORDED = /[!?;:] |@|:\/\/|[ (.][A-Za-z]\.[A-Za-z]$|^(?:[^ ]* ){6}/;

const KEEPS = anyOf(vocabulary.keepingVerbs.filter((verb) => verb !== "copy"));
const MEMBER = `(?:${QUOTED.source})`;
const INTO =
  "(?:[\"`“'][^\"`“”'\\n]*\\.[A-Za-z][A-Za-z0-9]*[\"`”']|[^ \\n\"`“”']*[^/ \\n\"`“”']\\.[A-Za-z][A-Za-z0-9]*(?![A-Za-z0-9/]))";
const JOIN = "(?:,|,? and)";
const PUT = `(${MEMBER}(?:${JOIN} ${MEMBER})*) (?:to|into|in) (?:(?:the|my) )?(?:file )?${INTO}`;
const GIVEN = new RegExp(PUT, "gi");
/** Texts in quotes that are to be kept in a file: "add "call about x.pdf" to todo.txt". They name nothing, however they look. */
const GIVING = new RegExp(`\\b(?:${KEEPS}) ${PUT}(?:${JOIN} ${PUT})*`, "gi");

/** A word of a text: where it stands with whatever clings to it, and what it is without that, in lower case. */
export interface Word {
  readonly start: number;
  readonly end: number;
  readonly bare: string;
}

/** The words of a text that hold a letter or a digit, in order. A file's name in quotes is one word, for all its spaces. */
export function wordsOf(text: string): Word[] {
  return [...eachWord(text)];
}

/** Whether a text has more words than that. It reads no further, for this is asked at each piece of a long answer. */
export function hasMoreWords(text: string, most: number): boolean {
  let count = 0;
  for (const _ of eachWord(text)) if (++count > most) return true;
  return false;
}

function* eachWord(text: string): Generator<Word> {
  const joined = text.replace(QUOTED, (quoted) =>
    isSpacedName(quoted.slice(1, -1)) ? quoted.replaceAll(" ", "_") : quoted,
  );
  for (const { 0: written, index: start } of joined.matchAll(WORD)) {
    const end = start + written.length;
    const bare = bareWord(text.slice(start, end));
    if (bare !== "") yield { start, end, bare };
  }
}

/** Whether a text that stands in quotes is the name of a file or a folder with spaces in it, and not words of another kind. */
export function isSpacedName(text: string): boolean {
  return text.includes(" ") && SPACED.test(text) && !WORDED.test(text);
}

/** Where the texts stand that are to be kept in a file which is named. */
export function givenIn(text: string): (readonly [number, number])[] {
  return [...text.matchAll(GIVING)].flatMap((found) =>
    [...found[0].matchAll(GIVEN)].map(({ 1: texts = "", index }) => {
      const start = found.index + index;
      return [start, start + texts.length] as const;
    }),
  );
}

/** The same with spaces in their place. */
export function withoutGiven(text: string): string {
  return givenIn(text).reduce(
    (left, [start, end]) => `${left.slice(0, start)}${" ".repeat(end - start)}${left.slice(end)}`,
    text,
  );
}

/** A word without the marks around it, in lower case. */
export function bareWord(word: string): string {
  const bare = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase();
  return meantBy(bare);
}
