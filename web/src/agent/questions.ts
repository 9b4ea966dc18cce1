import { ACTS, isThing } from "./acts.ts";
import { stem, termsIn } from "./ranking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { type Word, wordsOf } from "./words.ts";

const ASKING: ReadonlySet<string> = new Set(vocabulary.askingWords);
const SUMMARY = new RegExp(`\\b(?:${anyOf(vocabulary.summaryWords)})\\b`, "i");
const EXPLAINING: ReadonlySet<string> = new Set(vocabulary.explainingVerbs);
const OPENING: ReadonlySet<string> = new Set(["count", ...vocabulary.yesNoWords.filter((word) => word !== "will")]);
/** Before a further question. */
const NEXT = new RegExp(
  `(?:,? and|[,;?]) (?=(?:${anyOf([...vocabulary.questionOpeners, ...vocabulary.yesNoWords])}) \\S)`,
  "gi",
);
const CONTENT: ReadonlySet<string> = new Set(["what", "what's"]);
const INSIDE: ReadonlySet<string> = new Set(["in", "on"]);
const LISTS: ReadonlySet<string> = new Set(vocabulary.listNouns.map(stem));
const LEADING: ReadonlySet<string> = new Set([...vocabulary.fillers, ...vocabulary.cues]);
const CHANGING: ReadonlySet<string> = new Set(ACTS.flatMap(([act, { verbs }]) => (act === "read" ? [] : verbs)));
/** Words of a wish for the whole content: "what does a.txt say" asks for no part of it. */
const WHOLE: ReadonlySet<string> = new Set([
  ...vocabulary.wholeWords,
  ...vocabulary.askingWords,
  ...vocabulary.commonTerms,
  ...vocabulary.fillers,
  ...vocabulary.cues,
  ...vocabulary.acts.read.verbs,
]);

/** The questions of a wish, of which the first names what they are about: "is milk on a.txt and who brings bread?" has two. */
export function questionsIn(wish: string): string[] {
  const cuts = [...wish.matchAll(NEXT)].filter(({ index }) => wish.slice(0, index).split(" ").some(isThing));
  const starts = [0, ...cuts.map(({ 0: cut, index }) => index + cut.length)];
  return starts.map((start, at) => wish.slice(start, cuts[at]?.index));
}

/**
 * Whether a wish asks for an answer out of a content, such as "when is the dentist in notes/todo.txt?". A wish for the content
 * itself is answered by showing it.
 */
export function asksAboutContent(wish: string): boolean {
  const words = wordsOf(wish);
  if (words.some(({ bare }) => EXPLAINING.has(bare)) || asksForSummary(wish)) return true;
  const isAsking = words.some(({ bare }) => ASKING.has(bare)) || asksYesOrNo(wish, words);
  return isAsking && asksForPart(wish, words);
}

/** Whether it asks what a content is, and for no part of it: "show me what's in a.txt". */
export function asksForWhole(wish: string): boolean {
  const words = wordsOf(wish);
  return words.some(({ bare }) => CONTENT.has(bare)) && !asksForPart(wish, words);
}

/** The same of a file that it calls by words of its name: "what is on my shopping list", of `notes/shopping.md`. */
export function asksForNamed(wish: string, name: string): boolean {
  const words = wordsOf(wish);
  const parts = partsAsked(wish, words).map(({ bare }) => stem(bare));
  const isInside = words.some(({ bare }) => CONTENT.has(bare)) && words.some(({ bare }) => INSIDE.has(bare));
  if (!isInside || wish.split(" ").some(isThing)) return false;
  const called = new Set(termsIn(name));
  return parts.some((part) => called.has(part)) && parts.every((part) => called.has(part) || LISTS.has(part));
}

/** Whether a text is to be told in short. */
export function asksForSummary(wish: string): boolean {
  return SUMMARY.test(wish);
}

function asksForPart(wish: string, words: readonly Word[]): boolean {
  return partsAsked(wish, words).length > 0;
}

function partsAsked(wish: string, words: readonly Word[]): Word[] {
  return words.filter(({ start, end, bare }) => !WHOLE.has(bare) && !isThing(wish.slice(start, end)));
}

/** Whether it begins as a question for yes or no, or for a count, and that not of the file itself: "is milk on a.txt?". */
function asksYesOrNo(wish: string, words: readonly Word[]): boolean {
  const [first, ...rest] = words.filter(({ bare }) => !LEADING.has(bare));
  if (first === undefined || !OPENING.has(first.bare) || rest.some(({ bare }) => CHANGING.has(bare))) return false;
  const subject = rest.find(({ bare }) => !WHOLE.has(bare));
  return subject !== undefined && !isThing(wish.slice(subject.start, subject.end));
}
