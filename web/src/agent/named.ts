import { isOneQuestion, keptQuery, questionIn } from "./affairs.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { type Word, wordsOf } from "./words.ts";

/*
 * Things that are told by whom they are for, from or of: "the quote for Kessler", "the phone number of Brandt".
 *
 * How much such a thing is, how old it is, or which number it has, only a record tells. A name that the world knows, "the flight from
 * Berlin", or a word for what the world has one of, "the author of Dune", makes it no such thing.
 */

const NAMED = new RegExp(
  `\\bthe ((?:[a-z][a-z-]* ){0,2}?[a-z][a-z-]*) (${anyOf(vocabulary.namedLinks)}) (?:(?:Mr|Mrs|Ms|Dr)\\.? )?` +
    "([A-Z][A-Za-z0-9&-]{2,}(?: [A-Z][A-Za-z0-9&-]*)*)",
);
/** What only somebody's undertaking has, whose name needs no capital: "the deadline of project alpha". */
const PLANNED = new RegExp(
  `\\bthe (${anyOf(vocabulary.planAttributes)}) (?:${anyOf(vocabulary.namedLinks)}) ` +
    "([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+){0,2})[?!.]*$",
);
/** Somebody's undertaking as well, of two words at least: "who leads project alpha". */
const CHARGED = new RegExp(
  `^who (?:${anyOf(vocabulary.chargeVerbs)}) ([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+){1,2})[?!.]*$`,
  "i",
);
const AT = anyOf(vocabulary.leadingPrepositions);
const BEINGS = anyOf(vocabulary.classifyingWords);
/** What somebody keeps a list of: "who teaches maths?", "in which room is biology?", "how many pieces were ordered?". */
const KEPT = [
  `who (?:${anyOf(wishWords.dutyVerbs)}) ([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+){0,2})`,
  `(?:(?:${AT}) )?(?:which|what) (?:${anyOf(wishWords.keptPlaces)}) (?:${BEINGS}) ` +
    `([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+)??)(?: (?:${AT}|${anyOf(vocabulary.standingWords)}))?`,
  `how many ([a-z][a-z-]+) (?:${BEINGS}|(?:have|has) been) (?:${anyOf(wishWords.dealtWith)})` +
    `(?: (?:${anyOf(vocabulary.placelessWords)}))?`,
].map((form) => new RegExp(`^${form}[?!.]*$`, "i"));
/** Somebody by one name, as one calls those whom one knows: "how old is Mira?". */
const AGED = /^how old (?:is|are) ([A-Z][a-z]{2,})[?!.]*$/;
const MARKS: ReadonlySet<string> = new Set([...vocabulary.yesMarks, ...vocabulary.noMarks]);
const SWITCHES = Object.entries(vocabulary.switchWords).flat();
/** What somebody can switch: "is dark mode on?". */
const SWITCHED = new RegExp(
  "^(?:is|are) ([a-z][a-z0-9-]+(?: [A-Za-z0-9-]+){0,2}) " +
    `(?:${anyOf(SWITCHES.filter((word) => !MARKS.has(word)))})[?!.]*$`,
  "i",
);
/** Links that join as well what is of the world: "the tower of Pisa", "the film by Nolan". */
const ONLY_PAPERS: ReadonlySet<string> = new Set(["of", "by"]);
const OF_WORLD: ReadonlySet<string> = new Set([
  ...vocabulary.worldNouns,
  ...vocabulary.superlatives,
  ...vocabulary.worldVerbs,
]);
const DAYS = [...vocabulary.weekdays, ...vocabulary.months.flat()];
const NO_NAMES: ReadonlySet<string> = new Set([
  ...vocabulary.phraseEnds,
  ...vocabulary.linkWords,
  ...vocabulary.knownWords,
  ...DAYS,
]);
const WORLD_NAMES: ReadonlySet<string> = new Set([...vocabulary.worldNames, ...vocabulary.worldNouns, ...DAYS]);
const PAPERS: ReadonlySet<string> = new Set([
  ...vocabulary.documentNouns,
  ...vocabulary.namedPapers,
  ...vocabulary.datedPapers,
  ...vocabulary.keptThings,
]);
const ATTRIBUTES: ReadonlySet<string> = new Set([...vocabulary.ownAttributes, ...vocabulary.planAttributes]);
const FIGURES = new RegExp(`[0-9]|\\b(?:${anyOf(DAYS)})\\b`, "i");

/**
 * The name by which a question tells a thing that is somebody's, "Kessler", and the thing, which is empty where it asks who has charge
 * of it, whether it is on, or how old somebody is; null for any other wish.
 */
function thingIn(wish: string): { readonly name: string; readonly noun: string } | null {
  const question = questionIn(wish);
  const words = wordsOf(question);
  const found = NAMED.exec(question);
  if (!isOneQuestion(words) || words.some(({ bare }) => OF_WORLD.has(bare))) return null;
  const aged = AGED.exec(question)?.[1] ?? "";
  if (aged !== "" && !WORLD_NAMES.has(aged.toLowerCase())) return { name: aged, noun: "" };
  const charged = [CHARGED, SWITCHED, ...KEPT].map((form) => form.exec(question)?.[1]).find(Boolean);
  const [, attribute = "", planned = ""] = PLANNED.exec(question) ?? ["", "", charged];
  const said = planned.toLowerCase().split(" ");
  const isName = /^[a-z]/.test(planned) && !said.some((word) => NO_NAMES.has(word) || WORLD_NAMES.has(word));
  if (isName) return { name: planned, noun: attribute };
  if (found === null) return null;
  const [, noun, link, name] = found as unknown as [string, string, string, string];
  const isOwn = !ONLY_PAPERS.has(link) || PAPERS.has(noun.slice(noun.lastIndexOf(" ") + 1)) || ATTRIBUTES.has(noun);
  return isOwn && !wordsOf(name).some(({ bare }) => WORLD_NAMES.has(bare)) ? { name, noun } : null;
}

/** The name by which a question tells a thing that is somebody's; empty for any other wish. */
export function namedThing(wish: string): string {
  return thingIn(wish)?.name ?? "";
}

/** What to look for to answer a question that only a record answers, and no memory; empty for any other wish. */
export function recordQuery(wish: string): string {
  const query = keptQuery(wish);
  const thing = thingIn(wish);
  if (query !== "" || thing === null) return query;
  const [first, second] = wordsOf(questionIn(wish)) as [Word, Word];
  const isMeasured = first.bare === "how" && vocabulary.measures.includes(second.bare);
  return isMeasured || thing.noun === "" || ATTRIBUTES.has(thing.noun) ? thing.name : "";
}

/** Whether a text has a number, or the name of a day or a month. */
export function tellsFigure(text: string): boolean {
  return FIGURES.test(text);
}
