import { wordsOf } from "./words.ts";

/* A text that says the same over and over, as a small model's may that has lost its way; it is noticed while it is written. */

/** Times in a row that are no accident. */
const TIMES = 3;
/** Characters of all of them together. A refrain is shorter. */
const LEAST = 90;
/** Characters at the end of a text that are looked at. */
const MOST = 900;
/** Words of what is said again. Fewer are a rule or a laugh. */
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
  const end = Math.max(...[".", "!", "?", ":", "\n"].map((each) => told.lastIndexOf(each)));
  return end > 0 ? told.slice(0, end + 1).trim() : `${told.replace(/[ ,;]+$/, "")}…`;
}

/** Where the end of a text begins to repeat itself, and how long what it repeats is; null where it does not. */
function circleIn(text: string): { readonly start: number; readonly length: number } | null {
  const characters = [...text];
  const turned = characters.slice(-MOST).reverse();
  // For each beginning of the turned text, how much of it is an end of it as well: the rest is what is repeated.
  const shared = [0];
  let found: { start: number; length: number } | null = null;
  for (let at = 1; at < turned.length; at++) {
    let held = shared[at - 1] as number;
    while (held > 0 && turned[at] !== turned[held]) held = shared[held - 1] as number;
    shared[at] = held + (turned[at] === turned[held] ? 1 : 0);
    const length = at + 1 - (shared[at] as number);
    if (at + 1 >= Math.max(LEAST, TIMES * length)) found = { start: characters.length - at - 1, length };
  }
  if (found === null) return null;
  const before = characters.slice(0, found.start).join("").length;
  const said = characters.slice(found.start, found.start + found.length).join("");
  return wordsOf(said).length < FEWEST_WORDS ? null : { start: before, length: said.length };
}
