import { wordsOf } from "./words.ts";

/* A text that says the same over and over, as a small model's may that has lost its way; it is noticed while it is written. */

/** Times in a row that are no accident, and characters of all of them together. A refrain is shorter. */
const SENTENCES = { times: 3, least: 90 };
/** The same for whole lines, which a list, a table or a copied log may well have several times. */
const LINES = { times: 6, least: 400 };
/** The same for what is longer than one line of a list, which is not there by chance so often. */
const PARAGRAPHS = { times: 3, least: 400 };
/** Characters of what is said again that may be a line of a list. */
const LONGEST_LINE = 120;
/** Characters at the end of a text that are looked at. */
const MOST = 1800;
/** Words of what is said again. Fewer are a rule, a laugh or a row of numbers. */
const FEWEST_WORDS = 3;

/** Whether the end of a text says the same for the third time. */
export function goesRound(text: string): boolean {
  return circleIn(text) !== null;
}

/** The text up to where it begins to go round, to the end of a sentence where there is one; itself where it does not. */
export function withoutCircles(text: string): string {
  const found = circleIn(text);
  if (found === null) return text;
  const told = text.slice(0, found.start + found.length);
  const ends = [...text.matchAll(/[.!?:](?=\s|$)|\n/g)].map(({ index }) => index + 1);
  const end = ends.filter((each) => each <= told.length).at(-1) ?? 0;
  return end > 1 ? told.slice(0, end).trim() : `${told.replace(/[ ,;]+$/, "")}…`;
}

/**
 * Where the end of a text begins to repeat itself, and how long what it repeats is; null where it does not, or inside a block of
 * code, which may say the same many times.
 */
function circleIn(text: string): { readonly start: number; readonly length: number } | null {
  const characters = [...text];
  const turned = characters.slice(-MOST).reverse();
  // For each beginning of the turned text, how much of it is an end of it as well: the rest is what is repeated.
  const shared = [0];
  const line = turned.indexOf("\n");
  let found: { start: number; length: number } | null = null;
  for (let at = 1; at < turned.length; at++) {
    let held = shared[at - 1] as number;
    while (held > 0 && turned[at] !== turned[held]) held = shared[held - 1] as number;
    shared[at] = held + (turned[at] === turned[held] ? 1 : 0);
    const length = at + 1 - (shared[at] as number);
    const several = length > LONGEST_LINE ? PARAGRAPHS : LINES;
    const { times, least } = line >= 0 && line < length ? several : SENTENCES;
    if (at + 1 >= Math.max(least, times * length)) found = { start: characters.length - at - 1, length };
  }
  if (found === null) return null;
  const before = characters.slice(0, found.start).join("").length;
  const said = characters.slice(found.start, found.start + found.length).join("");
  if (isInCode(text) || isInCode(text.slice(0, before + said.length))) return null;
  const words = wordsOf(said).filter(({ bare }) => /\p{L}/u.test(bare));
  return words.length < FEWEST_WORDS ? null : { start: before, length: said.length };
}

/** Whether a text ends inside a block of code. */
function isInCode(text: string): boolean {
  return [...text.matchAll(/^ *(?:```|~~~)/gm)].length % 2 === 1;
}
