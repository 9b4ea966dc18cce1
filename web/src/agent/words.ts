/** What is quoted, and so no word of the person's own. */
export const QUOTED = /"[^"\n]*"|`[^`\n]*`|“[^”\n]*”|(?<![A-Za-z0-9])'[^'\n]*'(?![A-Za-z0-9])/g;
const WORD = /[^ \t\r\n\f\v\u00a0\u2028\u2029\u3000;]+/g;

/** A word of a text: where it stands with whatever clings to it, and what it is without that, in lower case. */
export interface Word {
  readonly start: number;
  readonly end: number;
  readonly bare: string;
}

/** The words of a text that hold a letter or a digit, in order. */
export function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)]
    .map((match) => ({ start: match.index, end: match.index + match[0].length, bare: bareWord(match[0]) }))
    .filter(({ bare }) => bare !== "");
}

/** A word without the marks around it, in lower case. */
export function bareWord(word: string): string {
  return word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").toLowerCase();
}
