import { copy } from "./copy.ts";
import { cited, fenced } from "./excerpts.ts";
import type { ResultSource } from "./figures.ts";
import { linesOf } from "./passages.ts";
import { asksForSummary } from "./questions.ts";
import { standsIn, stem, termsIn } from "./ranking.ts";
import { sentencesOf } from "./sentences.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * What a small model says of a file, held to the file: words that stand nowhere in it, a whole text copied for an answer, and
 * summaries, which it makes up or leaves at the length of the text.
 *
 * What is not borne out is not shown. In its place stand sentences of the file itself, chosen by code.
 */

const NUMBERS: Readonly<Record<string, number>> = vocabulary.numberWords;
const SENTENCES = new RegExp(`\\b(${anyOf(Object.keys(NUMBERS))}|[0-9]) (?:short )?(?:sentence|line)s?\\b`, "i");
const WORDING: ReadonlySet<string> = new Set(vocabulary.explainingVerbs);
const LIGHT: ReadonlySet<string> = new Set(
  [...vocabulary.lightWords, ...Object.keys(NUMBERS), ...vocabulary.wholeWords].map(stem),
);
/** Sentences of a summary for which no number is said. */
const USUAL = 3;
/** Sentences that make an answer a copy of the file and no answer. */
const COPIED = 4;
/** Words of a sentence that tells something. */
const FEWEST = 3;

function isWorded(question: string): boolean {
  return wordsOf(question).some(({ bare }) => WORDING.has(bare));
}

/**
 * Whether less than half of what an answer adds to its question stands in the file. What is explained or translated has words of its
 * own.
 */
export function isMadeUp(answer: string, question: string, { name, text, hasLines }: ResultSource): boolean {
  if (!hasLines || (isWorded(question) && !asksForSummary(question))) return false;
  const known = new Set([...termsIn(question), ...termsIn(name), ...LIGHT]);
  // Whether its numbers are right is told by themselves.
  const added = [...new Set(termsIn(answer))].filter((term) => !known.has(term) && !/^[0-9]+$/.test(term));
  const held = new Set(termsIn(text));
  return 2 * added.filter((term) => standsIn(term, held)).length < added.length;
}

/**
 * Of an answer that copies a text the sentences with most words of the question; the answer itself where none has any, and where it
 * is short.
 */
export function narrowed(answer: string, question: string): string {
  const sentences = filled(answer);
  const asked = new Set(termsIn(question).filter((term) => !LIGHT.has(term)));
  const held = sentences.map((each) => new Set(termsIn(each).filter((term) => asked.has(term))).size);
  const most = Math.max(0, ...held);
  if (sentences.length < COPIED || most === 0 || isWorded(question) || asksForSummary(question)) return answer;
  return sentences.filter((_, at) => held[at] === most).join(" ");
}

/**
 * The sentences of a file that say most of it, in the place of a summary that is none; null where a model's own is one, and for any
 * other question.
 */
export function summaryOf(answer: string, question: string, source: ResultSource): string | null {
  if (!asksForSummary(question) || !source.hasLines) return null;
  const asked = numberIn(question);
  const told = linesOf(source.text).flatMap((line, at) => filled(line).map((text) => ({ text, line: at + 1 })));
  const isShort = filled(answer).length <= (asked || Math.max(USUAL, Math.floor(told.length / 2)));
  if (isShort && !isMadeUp(answer, question, source)) return null;
  const chosen = telling(
    told.map(({ text }) => text),
    asked || USUAL,
  ).map((at) => told[at] as { text: string; line: number });
  if (chosen.length === 0) return null;
  const sentence = chosen.length === 1 ? copy.mainSentenceOne : copy.mainSentences;
  const places = [...new Set(chosen.map(({ line }) => line))];
  return `${sentence} ${cited(source.name, places)}:\n\n${fenced(chosen.map(({ text }) => text).join("\n"))}`;
}

function filled(text: string): string[] {
  return sentencesOf(text)
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** How many sentences are asked for; 0 where that is not said. */
function numberIn(question: string): number {
  const word = SENTENCES.exec(question)?.[1]?.toLowerCase() ?? "0";
  return NUMBERS[word] ?? Number(word);
}

/** The places of the sentences whose words come most often in all of them, in their order. */
function telling(sentences: readonly string[], most: number): number[] {
  const terms = sentences.map((each) => [...new Set(termsIn(each).filter((term) => !LIGHT.has(term)))]);
  const counts = new Map<string, number>();
  for (const term of terms.flat()) counts.set(term, (counts.get(term) ?? 0) + 1);
  const countOf = (term: string) => counts.get(term) as number;
  // In whole numbers, which are the same in both languages: of as many words as a sentence has, how often each comes.
  const weights = terms.map((each, at) => {
    const sum = each.map(countOf).reduce((total, count) => total + count, 0);
    return wordsOf(sentences[at] as string).length < FEWEST ? 0 : Math.floor((sum * 100) / (each.length + FEWEST));
  });
  const places = weights.flatMap((weight, at) => (weight > 0 ? [at] : []));
  const ranked = places.toSorted((one, other) => (weights[other] as number) - (weights[one] as number));
  return ranked.slice(0, most).toSorted((one, other) => one - other);
}
