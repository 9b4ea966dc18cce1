import { isOneQuestion, questionIn } from "./affairs.ts";
import { stem } from "./ranking.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Questions that are about what lies here by what they ask: how it is run, who does what on Thursday, what was decided. They have
 * no "my" and no "the" that tells them from questions about the world, and a small model makes their answers up.
 */

type Words = ReadonlySet<string>;

/** Where it stands how something is run. */
const README = "*readme*";
const HERE: Words = new Set(vocabulary.projectWords);
const VERBS: Words = new Set(vocabulary.projectVerbs);
const PLANNED: Words = new Set([...vocabulary.planQuestions, "what"]);
const NAMED_DAYS: Words = new Set([...vocabulary.weekdays, "weekend"]);
const DAYS: Words = new Set([...NAMED_DAYS, "tomorrow", "today", "tonight"]);
const SETTLING: Words = new Set(vocabulary.settlingVerbs);
const SPEAKERS: Words = new Set(vocabulary.speakers);
const BEINGS: Words = new Set([...vocabulary.pastHelpers, "is"]);
const UNTOLD: Words = new Set([
  ...vocabulary.worldNouns,
  ...vocabulary.worldVerbs,
  ...vocabulary.adviceModals,
  ...["a", "an"],
]);
const PLAIN: Words = new Set([
  ...[...vocabulary.phraseEnds, ...vocabulary.linkWords, ...vocabulary.lightWords, ...vocabulary.weakWords],
  ...[...vocabulary.fillers, ...vocabulary.askingWords, ...vocabulary.attributes, ...vocabulary.passingWords],
  ...vocabulary.measures,
]);
const MOST = 3;

/** What to look for to answer such a question; nothing for any other wish. */
export function planQueries(wish: string): readonly string[] {
  const question = questionIn(wish);
  const words = wordsOf(question);
  const bare = words.map((word) => word.bare);
  if (!isOneQuestion(words)) return [];
  const [first = ""] = bare;
  if (first === "how") {
    const [verb] = bare.filter((word) => VERBS.has(word)).map(stem);
    const isHere = bare.some((word) => HERE.has(word)) && bare.some((word) => SPEAKERS.has(word) || BEINGS.has(word));
    return verb !== undefined && isHere ? [README, verb] : [];
  }
  const telling = words
    .slice(1)
    .flatMap((word) => (PLAIN.has(word.bare) ? [] : [question.slice(word.start, word.end).replaceAll(EDGES, "")]));
  const names = telling.filter((word) => /^\p{Lu}/u.test(word) && !DAYS.has(word.toLowerCase()));
  const isForName = names.length === 1 && names[0] === telling.at(-1) && bare.at(-2) === "for";
  // "What should I get for Ellie?"
  if (first === "what" && bare.some((word) => SPEAKERS.has(word)) && isForName) return names;
  if (!PLANNED.has(first) || bare.some((word) => UNTOLD.has(word))) return [];
  const days = telling.filter((word) => DAYS.has(word.toLowerCase()));
  const [day = ""] = days;
  const others = telling
    .map((word) => word.toLowerCase())
    .filter((word) => !DAYS.has(word) && !SETTLING.has(word))
    .map(stem);
  const isSettled = bare.some((word, at) => BEINGS.has(word) && SETTLING.has(bare[at + 1] ?? ""));
  const isDay = days.length === 1 && (others.length > 0 || NAMED_DAYS.has(day.toLowerCase()));
  return isDay || (isSettled && others.length > 0) ? [...days, ...others].slice(0, MOST) : [];
}

const EDGES = /^[?!.,]+|[?!.,]+$/g;
