import { isThing } from "./acts.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { wordsOf } from "./words.ts";

/*
 * A wish that asks for the same in another way: how many those are that were shown, or which those are that were counted. Of "how many
 * are that?" and "show me them" a small model makes up a number, or says that nothing was asked for.
 */

const LEADS = `^(?:(?:${anyOf([...vocabulary.cues, ...vocabulary.followLeads, ...vocabulary.fillers])})[,.!:]? )*`;
const END = `(?:,? (?:${anyOf([...wishWords.tails, ...vocabulary.repeatingTails])}))*[?.! ]*$`;
const COUNTED = new RegExp(`${LEADS}(?:${anyOf(vocabulary.countedAgain)})${END}`, "i");
const SHOWN = new RegExp(`${LEADS}(?:${anyOf(vocabulary.shownAgain)})${END}`, "i");
const OF = "(?:of (?:the |my |our )?)?";
const WHICH = new RegExp(`${LEADS}(?:which|what) ${OF}(.+)$`, "i");
const WHAT_IS = new RegExp(`${LEADS}(?:what (?:${anyOf(vocabulary.classifyingWords)})|what['’]s|whats) (.+)$`, "i");
const ARTICLES = anyOf(vocabulary.askedArticles);
const SHOWS = anyOf([...vocabulary.openingVerbs, ...vocabulary.viewingVerbs]);
const LISTS = new RegExp(`${LEADS}(?:list|find|(?:${SHOWS})(?: me| us)?)(?: (?:${ARTICLES}))* (.+)$`, "i");
const MANY = new RegExp(`${LEADS}(?:how many|count)(?: (?:${ARTICLES}))* ${OF}(.+)$`, "i");

/** The wish before, for the number of what it asked to see, or to see what it counted; empty where it is not that. */
export function askedAgain(text: string, wish: string): string {
  if (COUNTED.test(text)) {
    const open = WHAT_IS.exec(wish)?.[1];
    if (open !== undefined) return `how many are ${open}`;
    const asked = (WHICH.exec(wish) ?? LISTS.exec(wish))?.[1];
    return asked === undefined || namesThing(asked) ? "" : `how many ${asked}`;
  }
  if (!SHOWN.test(text)) return "";
  const counted = MANY.exec(wish)?.[1];
  return counted === undefined ? (WHICH.test(wish) ? wish : "") : `which ${counted}`;
}

/** Whether its first word is the name of something: "read a.txt". */
function namesThing(text: string): boolean {
  return wordsOf(text)
    .slice(0, 1)
    .some(({ start, end }) => isThing(text.slice(start, end)));
}
