import { claimWords } from "./claim-words.ts";
import { wordsOf } from "./words.ts";

const SENTENCE = /[^\n]+?(?:[.!?]+(?=\s|$)|(?=\n)|$)\s*|\s+/g;
const OPENERS: ReadonlySet<string> = new Set(claimWords.openers);

/** All of a text, cut behind each sentence and each line, each with the white space behind it. */
export function sentencesOf(text: string): readonly string[] {
  return text.match(SENTENCE) ?? [];
}

/** Whether a sentence only leads to what follows: "Sure!", "1.". */
export function onlyOpeners(sentence: string): boolean {
  const words = wordsOf(sentence);
  return words.length > 0 && words.every(({ bare }) => OPENERS.has(bare) || /^[0-9]+$/.test(bare));
}
