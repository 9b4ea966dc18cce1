import { isThing } from "./acts.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { type Word, wordsOf } from "./words.ts";

/*
 * A wish that asks for the same in another way: how many those are that were shown, or which those are that were counted. Of "how many
 * are that?" and "show me them" a small model makes up a number, or says that nothing was asked for.
 */

const LEADS = `^(?:(?:${anyOf([...vocabulary.cues, ...vocabulary.followLeads, ...vocabulary.fillers])})[,.!:]? )*`;
const END = `(?:,? (?:${anyOf([...wishWords.tails, ...vocabulary.repeatingTails])}))*[?.! ]*$`;
const COUNTED = new RegExp(`${LEADS}(?:${anyOf(vocabulary.countedAgain)})${END}`, "i");
const SHOWN = new RegExp(`${LEADS}(?:${anyOf(vocabulary.shownAgain)})${END}`, "i");
const OF = "(?:of (?:the |my |our )?)?";
const WHICH = new RegExp(`${LEADS}(?:which|what) ${OF}([^\\n]+)$`, "i");
const OPEN = anyOf([...vocabulary.stillWords, ...vocabulary.insideWords, ...vocabulary.leadingPrepositions]);
const WHAT_IS = new RegExp(
  `${LEADS}(?:what (?:${anyOf(vocabulary.classifyingWords)})|what['’]s|whats) ((?:${OPEN}) [^\\n]+)$`,
  "i",
);
const ARTICLES = anyOf(vocabulary.askedArticles);
const SHOWS = anyOf([...vocabulary.openingVerbs, ...vocabulary.viewingVerbs]);
const LISTS = new RegExp(`${LEADS}(?:list|find|(?:${SHOWS})(?: me| us)?)(?: (?:${ARTICLES}))* ([^\\n]+)$`, "i");
const MANY = new RegExp(`${LEADS}(?:how many|count)(?: (?:${ARTICLES}))* ${OF}([^\\n]+)$`, "i");

const VERBS: ReadonlySet<string> = new Set([...vocabulary.helpers, ...vocabulary.yesNoWords]);
const BEHIND_NOUN: ReadonlySet<string> = new Set([
  ...VERBS,
  ...[vocabulary.leadingPrepositions, vocabulary.insideWords].flat(),
]);
const QUESTIONS: ReadonlySet<string> = new Set(vocabulary.askingWords);
/** Letters of a plural; "has" and "its" are none. */
const FEWEST_LETTERS = 4;

/** The wish before, for the number of what it asked to see, or to see what it counted; empty where it is not that. */
export function askedAgain(text: string, wish: string): string {
  const [, which = ""] = WHICH.exec(wish) ?? [];
  if (COUNTED.test(text)) {
    const open = WHAT_IS.exec(wish)?.[1];
    if (open !== undefined) return `how many are ${open}`;
    if (which !== "") return areSeveral(which) ? `how many ${which}` : "";
    const [, listed = ""] = LISTS.exec(wish) ?? [];
    return namesSeveral(listed) ? `how many ${listed}` : "";
  }
  if (!SHOWN.test(text)) return "";
  const [, counted = ""] = MANY.exec(wish) ?? [];
  if (counted !== "") return namesSeveral(counted) ? `which ${counted}` : "";
  return areSeveral(which) ? wish : "";
}

/** Whether a question is about several things: its verb stands behind them. "What makes bread rise?" is about one. */
function areSeveral(text: string): boolean {
  const words = wordsOf(text).slice(0, 3);
  return words.some((word, at) => isPlural(text, word) && VERBS.has(words[at + 1]?.bare ?? ""));
}

/** Whether an order begins with a word for several things, or with one that tells more of them: "open tasks in a.txt". */
function namesSeveral(text: string): boolean {
  const [first, second, third] = wordsOf(text);
  if (first === undefined || QUESTIONS.has(first.bare) || /['’]s$/.test(first.bare)) return false;
  if (isPlural(text, first)) return true;
  const isNoun = third === undefined || BEHIND_NOUN.has(third.bare);
  return second !== undefined && isNoun && isPlural(text, second);
}

/** Whether a word ends as a plural does, and is no name, no file and no verb of every sentence. */
function isPlural(text: string, { start, end, bare }: Word): boolean {
  const written = text.slice(start, end);
  if (bare.length < FEWEST_LETTERS || BEHIND_NOUN.has(bare)) return false;
  return !(/^\p{Lu}/u.test(written) || isThing(written)) && /s$/.test(bare) && !/(?:['’]s|ss|us|is)$/.test(bare);
}
