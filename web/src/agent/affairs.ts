import { isThing } from "./acts.ts";
import { stem } from "./ranking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { type Word, wordsOf } from "./words.ts";

/*
 * Questions about the person's own affairs, which name no file and which some file may answer: "when is the heating inspected?".
 *
 * Told by how they refer to what they ask about: "my", "our", somebody's, "we" with what we did, or "the" with a thing that there is
 * more than one of in the world. A question about the world says "a", nothing, "the capital of Italy" or "the moon". Where the words
 * leave a doubt it is none: what follows is a search, which is not what somebody wants who asked for a fact.
 */

const LEAD = new RegExp(
  `^(?:(?:${anyOf(vocabulary.fillers)})[,!]? )*(?:(?:${anyOf(vocabulary.askingPhrases)}),? (?:(?:if|whether) )?)?`,
  "i",
);
/** Where another sentence begins. "Dr." ends none, nor does "2." before what is the second. */
const PARTS = /(?<!\b[A-Z][a-z])(?<!\b[0-9]{1,2})[.!?:]["')]*[ \t]|[!?:] |[;\n]/;
const PAUSED = /(?:(?<!\b[0-9]{1,2})\.|[,:!?)])["'`)]*$/;
const POSSESSIVE = new RegExp(`^([A-Z][A-Za-z-]*|${anyOf(vocabulary.relatives)})['’]s`);
const ENDING = /['’]s$/;

const CUES: ReadonlySet<string> = new Set(vocabulary.cues);
const ASKING: ReadonlySet<string> = new Set([...vocabulary.questionOpeners, ...vocabulary.yesNoWords]);
/** A number that things are told apart by. Most of four digits are years. */
const NUMBERED = /^(?!(?:19|20)[0-9]{2}(?![0-9]))[0-9]{3,}[?!.,]?$/;
const CODED =
  /^(?:[A-Z]{1,4}-?[0-9]{3,}[A-Z0-9-]*|v?[0-9]+\.[0-9]+\.[0-9]+|[a-z]+(?:_[a-z0-9]+)+|[a-z]{3,}[A-Z][A-Za-z0-9]*)[?!.,]?$/;
const CALLED: ReadonlySet<string> = new Set(vocabulary.namedBy);
const NAMING: ReadonlySet<string> = new Set(["which", "what"]);
const US: ReadonlySet<string> = new Set(["we", "us"]);
const I: ReadonlySet<string> = new Set(["i"]);
const OWNERS: ReadonlySet<string> = new Set(vocabulary.owners);
const KNOWN: ReadonlySet<string> = new Set(vocabulary.knownWords);
const SPEAKERS: ReadonlySet<string> = new Set(vocabulary.speakers);
const ENDS: ReadonlySet<string> = new Set([...vocabulary.phraseEnds, ...vocabulary.linkWords]);
const PASSING: ReadonlySet<string> = new Set(vocabulary.passingWords);
const ATTRIBUTES: ReadonlySet<string> = new Set(vocabulary.attributes);
const WORLD: ReadonlySet<string> = new Set([...vocabulary.worldNouns, ...vocabulary.superlatives]);
const HOMELY: ReadonlySet<string> = new Set(vocabulary.homelyNouns);
const WORLD_VERBS: ReadonlySet<string> = new Set(vocabulary.worldVerbs);
const PAST: ReadonlySet<string> = new Set(vocabulary.pastHelpers);
const DEALINGS: ReadonlySet<string> = new Set(vocabulary.dealings);
const ADVICE: ReadonlySet<string> = new Set(vocabulary.adviceModals);
const ADDRESSED: ReadonlySet<string> = new Set(vocabulary.keepingHelpers);
const STATES: ReadonlySet<string> = new Set(vocabulary.stateWords);
const KEPT: ReadonlySet<string> = new Set(vocabulary.keptThings);
const SETTLED: ReadonlySet<string> = new Set(vocabulary.settledWords);
const IN_GENERAL = [...vocabulary.worldVerbs, ...vocabulary.adviceModals, ...vocabulary.folderNouns, "a", "an"];
const UNSETTLED: ReadonlySet<string> = new Set(IN_GENERAL);
/** Words before a thing among which the one is that tells which is meant: "the most expensive order". */
const NEAR = 3;
const SPANS: ReadonlySet<string> = new Set([...vocabulary.unpickedNouns, "until", "till"]);
const BEFORE_SUBJECT: ReadonlySet<string> = new Set([...vocabulary.yesNoWords, ...vocabulary.modals, "shall"]);
/** Words that go back to something, speak to the model, or ask for files themselves. */
const TURNED_AWAY: ReadonlySet<string> = new Set(vocabulary.turnedAway);
const BEINGS: ReadonlySet<string> = new Set(["is", "was"]);
/** What people call the list of what they have to do. */
export const TASKS: readonly string[] = ["todo", "to-do", "task"];
const TO_DO: ReadonlySet<string> = new Set(["have", "need", "left", "got"]);
const DAYS: ReadonlySet<string> = new Set([...vocabulary.weekdays, ...vocabulary.months.flat()]);
/** Words before a number that is no thing's own. */
const NO_THING: ReadonlySet<string> = new Set([
  ...vocabulary.phraseEnds,
  ...vocabulary.linkWords,
  ...DAYS,
  ...vocabulary.beforeFigures,
]);
const TELLING_NOTHING: ReadonlySet<string> = new Set([
  ...vocabulary.phraseEnds,
  ...vocabulary.linkWords,
  ...vocabulary.figureNouns,
  ...vocabulary.lightWords,
  ...vocabulary.weakWords,
  ...vocabulary.fillers,
  ...vocabulary.askingWords,
  ...vocabulary.attributes,
  ...vocabulary.passingWords,
  ...vocabulary.measures,
  ...Object.values(vocabulary.acts).flatMap(({ verbs, claims }) => [...verbs, ...claims]),
  ...vocabulary.vagueWords,
]);
const MOST_WORDS = 20;
const PHRASE_WORDS = 4;
/** With the read that follows them, these are all calls that one question may lead to. */
const MOST_QUERIES = 3;
/** Letters of an ending-less word that is looked for as it is; a shorter one stands in too many others. */
const SHORT = 4;

/** What stands after "my", "the" or a name: its words, and whether somebody owns it. */
export interface Phrase {
  readonly words: readonly Word[];
  readonly owned: boolean;
  readonly ofWorld: boolean;
  readonly name: string;
}

/** What to look for, the surest first, to answer a question about the person's own affairs; nothing for any other wish. */
export function ownQueries(wish: string): string[] {
  const question = questionIn(wish);
  const words = wordsOf(question);
  if (!isOneQuestion(words)) return [];
  if (asksTasks(words)) return [...TASKS];
  const code = codeIn(question, words);
  if (code !== "") return [code];
  const phrases = phrasesIn(question, words);
  const owned = phrases.some((each) => each.owned);
  const isGeneral = asksWhy(words) || classifies(words) || asksUse(words);
  if (!owned && (isGeneral || words.some(({ bare }) => WORLD_VERBS.has(bare)))) return [];
  if (!owned && phrases.some(({ ofWorld }) => ofWorld)) return [];
  const telling = phrases.filter(
    (each) => each.name !== "" || !isPlain(each.words) || (each.owned && each.words.length > 1),
  );
  if (telling.length === 0 && !speaksOfUs(words)) return [];
  return queriesOf(
    question,
    words,
    telling.toSorted((one, other) => Number(other.owned) - Number(one.owned)),
  );
}

/**
 * What could be looked for to answer a question that may be about the person's own affairs, and as well about the world: a name, or a
 * thing that is told apart by "the"; empty for any other wish.
 */
export function doubtfulQuery(wish: string): string {
  const question = questionIn(wish);
  const words = wordsOf(question);
  if (!isOneQuestion(words) || words.some(({ bare }) => WORLD.has(bare)) || opener(words) === "how") return "";
  const names = words
    .slice(1)
    .filter((word) => isCapital(question, word) && word.bare.length > 2 && !DAYS.has(word.bare));
  const [name, ...more] = names;
  if (name !== undefined && more.length === 0 && asksOfSomebody(words, name)) return bareName(question, name);
  // "What is Python?" asks for no more than that.
  if (!words.some((word) => !(names.includes(word) || TELLING_NOTHING.has(word.bare.replace(ENDING, ""))))) return "";
  const [thing] = phrasesIn(question, words).filter((each) => !(each.ofWorld || isPlain(each.words)));
  return textIn(question, names.length > 0 ? runOf(names) : (thing?.words ?? []));
}

/**
 * The one word by which a file may answer what no name, no "the" and no "my" tells apart from the world: "what port does tidepool
 * listen on?", "how do we release?". It counts only where something else of the question stands beside it, or in a file's own name.
 * Empty for any other wish.
 */
export function apartQuery(wish: string): string {
  const words = wordsOf(questionIn(wish));
  const [first = "", second = "", third = "", fourth = ""] = words.map(({ bare }) => bare);
  if (!isOneQuestion(words) || words.some(({ bare }) => WORLD.has(bare) || WORLD_VERBS.has(bare))) return "";
  const isOurs = first === "how" && ["do", "did"].includes(second) && third === "we";
  const isOfOne = NAMING.has(first) && !ENDS.has(second) && ["does", "has"].includes(third) && words.length > SHORT;
  const isPlainWord = TELLING_NOTHING.has(fourth) || ENDS.has(fourth) || fourth.length < SHORT;
  return !(isOurs || isOfOne) || isPlainWord ? "" : root(fourth);
}

/** Whether it is said which is meant: "the most expensive order", "what errors", and not "what are logs". */
function isSettled(words: readonly Word[], at: number): boolean {
  return (
    words[at - 1]?.bare === "what" || words.slice(Math.max(0, at - NEAR), at).some(({ bare }) => SETTLED.has(bare))
  );
}

/**
 * What to look for to answer a question about what somebody keeps records of, "how much is the order for Kessler?", "which errors
 * came up on March 9?": a name of it, else the word for the thing. Only a record tells it, and no memory. Empty for any other wish,
 * such as one about the errors of a language.
 */
export function keptQuery(wish: string): string {
  const question = questionIn(wish);
  const words = wordsOf(question);
  if (!isOneQuestion(words) || words.some(({ bare }) => UNSETTLED.has(bare)) || asksWhy(words)) return "";
  // Where a file or a folder is named, that is what to look in: "which orders are in orders/?"
  if (words.some((word) => isThing(question.slice(word.start, word.end)))) return "";
  const at = words.findIndex(({ bare }, place) => KEPT.has(bare) && isSettled(words, place));
  const names = words
    .slice(1)
    .filter((word) => isCapital(question, word) && word.bare.length > 2 && !DAYS.has(word.bare));
  const isOfWorld = names.some((name) => ["in", "of"].includes((words[words.indexOf(name) - 1] as Word).bare));
  const thing = words[at];
  if (thing === undefined || isOfWorld || words[at + 1]?.bare === "of") return "";
  return textIn(question, runOf(names)) || root(thing.bare);
}

const SPENDING: ReadonlySet<string> = new Set(["much", "spend", "spent"]);

/** Whether it asks how much the person paid, which is a sum wherever more than one file has a part of it. */
export function spends(question: string): boolean {
  const words = wordsOf(question).map(({ bare }) => bare);
  return words.some((word) => SPENDING.has(word)) && words.some((word) => SPEAKERS.has(word));
}

/** The question without what leads into it; empty where there is more than one sentence. */
export function questionIn(wish: string): string {
  const question = wish.trim().replace(LEAD, "");
  return PARTS.test(question) ? "" : question;
}

/**
 * Whether a question may be about the person's own affairs by "we", by what "I have", or by a state that only somebody's things are
 * in: "how many teapots are left?", "are we open on Sundays?". No more than a reason to look where a model would.
 */
export function mayBeOwn(wish: string): boolean {
  const words = wordsOf(questionIn(wish));
  const has = (...lists: readonly ReadonlySet<string>[]) =>
    words.some(({ bare }) => lists.some((list) => list.has(bare)));
  if (!isOneQuestion(words) || has(WORLD, WORLD_VERBS, ADVICE) || asksWhy(words) || classifies(words)) return false;
  return (has(STATES) && !has(SPANS)) || has(US) || (has(I) && has(ADDRESSED));
}

export function isOneQuestion(words: readonly Word[]): boolean {
  // "Which number is it for the car?" goes back to nothing.
  const isBare = (at: number) => BEINGS.has(words[at - 1]?.bare ?? "") && words[at + 1]?.bare === "for";
  const turnsAway = words.some(({ bare }, at) => TURNED_AWAY.has(bare) && !(bare === "it" && isBare(at)));
  if (words.length < 2 || words.length > MOST_WORDS || turnsAway) return false;
  const isAnother = words.some(({ bare }, at) => ASKING.has(bare) && CUES.has(words[at - 1]?.bare ?? ""));
  return !isAnother && ASKING.has(opener(words));
}

/** Whether it asks what the person has to do: "what do I still have to do this week?". */
function asksTasks(words: readonly Word[]): boolean {
  const bare = words.map((word) => word.bare);
  const [first, second = "", third = ""] = bare;
  const hasTo = bare.some((word, at) => TO_DO.has(word) && bare[at + 1] === "to" && bare[at + 2] === "do");
  return first === "what" && ["do", "did"].includes(second) && ["i", "we"].includes(third) && hasTo;
}

/** Whether it asks who somebody is, or what somebody did, by one name, as one calls those whom one knows: "who is Brandt?". */
function asksOfSomebody(words: readonly Word[], name: Word): boolean {
  const bare = words.map((word) => word.bare);
  const at = words.indexOf(name);
  const isWho = bare[0] === "who" && bare[1] === "is" && at === 2 && words.length === 3;
  return isWho || (bare[0] !== "why" && ["did", "does"].includes(bare[at - 1] as string) && at + 1 < words.length);
}

/** The word that asks: of "when's" and "on which day" the one without what clings to it. */
function opener([first, second]: readonly Word[]): string {
  const word = vocabulary.leadingPrepositions.includes((first as Word).bare) ? second : first;
  return (word as Word).bare.replace(ENDING, "");
}

/** Whether it asks for an explanation: "why", or "how" without a measure, where that does not ask for a name. */
function asksWhy(words: readonly Word[]): boolean {
  const asking = opener(words);
  const isPlainHow = asking === "how" && !vocabulary.measures.includes((words[1] as Word).bare);
  return asking === "why" || (isPlainHow && !CALLED.has((words.at(-1) as Word).bare));
}

/** Whether it asks what something is for: "what does the grep command do?". */
function asksUse(words: readonly Word[]): boolean {
  return ["do", "does"].includes((words[1] as Word).bare) && words.at(-1)?.bare === "do";
}

/** Whether it asks what kind of thing something is, or compares: "is the tomato a fruit?". */
function classifies(words: readonly Word[]): boolean {
  return (
    vocabulary.classifyingWords.includes((words[0] as Word).bare) &&
    words.some(({ bare }) => ["a", "an", "than"].includes(bare))
  );
}

/** Whether it asks what the person did or is going to do, and not what people do. */
function speaksOfUs(words: readonly Word[]): boolean {
  const at = words.findIndex(({ bare }) => SPEAKERS.has(bare));
  if (at < 1 || asksWhy(words)) return false;
  const helpers = words.slice(0, at).map(({ bare }) => bare);
  const isNamed =
    opener(words) === "what" &&
    (helpers.some((word) => ATTRIBUTES.has(word)) || DEALINGS.has(words[at + 1]?.bare ?? ""));
  const plans = isNamed || vocabulary.planQuestions.includes(opener(words)) || helpers.includes("much");
  return helpers.some((word) => PAST.has(word)) || (plans && !helpers.some((word) => ADVICE.has(word)));
}

/** The things that it refers to as known ones. */
export function phrasesIn(question: string, words: readonly Word[]): Phrase[] {
  return words.flatMap((word, at) => {
    const name = at > 0 ? (POSSESSIVE.exec(written(question, word))?.[1] ?? "") : "";
    const owned = OWNERS.has(word.bare) || name !== "";
    if (!owned && word.bare !== "the") return [];
    let end = at + 1;
    while (end < words.length && end - at <= PHRASE_WORDS && !ENDS.has((words[end] as Word).bare)) {
      end++;
      if (PAUSED.test(written(question, words[end - 1] as Word))) break;
    }
    const lasting = words.slice(at + 1, end).filter(({ bare }) => !PASSING.has(bare));
    const own = withoutVerb(lasting, (words[at - 1] as Word).bare);
    // In "is the car due for inspection" the verb goes on, and not the car.
    const goesOn = own.length === lasting.length && goesOnInWorld(question, words, end);
    const ofWorld = !owned && (isOfWorld(question, own) || goesOn);
    return [{ words: own, owned, ofWorld, name }];
  });
}

/**
 * The number of its own that something has, which is somebody's and not the world's: "order 1043", "E021"; empty where it reckons
 * with several.
 */
function codeIn(question: string, words: readonly Word[]): string {
  const [code, ...more] = words.slice(1).filter((word, at) => {
    const before = words[at] as Word;
    const isNumbered = !NO_THING.has(before.bare) && /^\p{Ll}/u.test(question.slice(before.start));
    return CODED.test(written(question, word)) || (isNumbered && NUMBERED.test(written(question, word)));
  });
  return code === undefined || more.length > 0 ? "" : bareName(question, code);
}

/** Whether there is one of it in the world: the moon, the largest of all, or what has a name of its own. */
function isOfWorld(question: string, own: readonly Word[]): boolean {
  const last = own.at(-1);
  if (last === undefined || isCapital(question, last)) return last !== undefined;
  // "The plant market" is one of many, "the market" is not; "the weather station" is somebody's.
  if (own.length > 1 && vocabulary.ownedHeads.includes(last.bare)) return false;
  const isHomely = own.length > 1 && HOMELY.has(last.bare);
  return own.slice(0, isHomely ? -1 : undefined).some(({ bare }) => WORLD.has(bare));
}

/** Whether it is "of", "in" or "for" what nobody here has a word for: "the speed of light", "the recipe for pancakes". */
function goesOnInWorld(question: string, words: readonly Word[], end: number): boolean {
  const [link, after] = [words[end], words[end + 1]];
  if (link === undefined || after === undefined || !vocabulary.generalLinks.includes(link.bare)) return false;
  const isKnown =
    KNOWN.has(after.bare) || OWNERS.has(after.bare) || DAYS.has(after.bare) || /^\p{Nd}+$/u.test(after.bare);
  return !isKnown && !POSSESSIVE.test(written(question, after));
}

/** A phrase without the verb that a question ends with: "the library close", "the heating inspected". */
function withoutVerb(own: readonly Word[], before: string): readonly Word[] {
  const last = own.at(-1)?.bare ?? "";
  if (own.length < 2 || !BEFORE_SUBJECT.has(before)) return own;
  const isState = vocabulary.classifyingWords.includes(before);
  return !isState || /(?:ed|ing)$/.test(last) || vocabulary.participles.includes(last) ? own.slice(0, -1) : own;
}

/** Whether it only says what kind of answer is wanted: "the date", "the phone number". */
function isPlain(own: readonly Word[]): boolean {
  return own.every(({ bare }) => ATTRIBUTES.has(bare));
}

/** The names and phrases that it refers to, then what else tells something, each word by itself. */
function queriesOf(question: string, words: readonly Word[], phrases: readonly Phrase[]): string[] {
  const names = words
    .slice(1)
    .filter((word) => isCapital(question, word) && word.bare.length > 2 && !DAYS.has(word.bare));
  const told = new Set(phrases.flatMap((each) => each.words.map(({ bare }) => bare)));
  const others = words.filter(({ bare }) => !TELLING_NOTHING.has(bare.replace(ENDING, "")) && !told.has(bare));
  // "Which terminal" is asked for by its first word, "spent on paint" by its last.
  const single = NAMING.has(opener(words))
    ? others.filter(({ bare }) => !DEALINGS.has(bare)).slice(0, 1)
    : others.slice(-1);
  const run = runOf(names.filter((word) => others.includes(word)));
  const [first] = phrases;
  const meant =
    first === undefined
      ? [textIn(question, run.length > 0 ? run : single)]
      : phrases.flatMap((each) => [each.name, textIn(question, each.words)]);
  const inFirst = first?.words ?? [];
  const singles = inFirst.length > 1 ? inFirst.filter(({ bare }) => !ATTRIBUTES.has(bare)) : [];
  const queries = [
    ...meant,
    ...names.filter(({ bare }) => !TELLING_NOTHING.has(bare)).map((word) => bareName(question, word)),
    ...[...singles.toSorted((one, other) => other.bare.length - one.bare.length), ...others].map(({ bare }) =>
      root(bare),
    ),
  ];
  const isNew = (query: string, at: number) =>
    queries.findIndex((other) => other.toLowerCase() === query.toLowerCase()) === at;
  return queries.filter((query, at) => query !== "" && isNew(query, at)).slice(0, MOST_QUERIES);
}

/** Names that stand side by side, from the first on. */
function runOf(names: readonly Word[]): readonly Word[] {
  const gap = names.findIndex(({ start }, at) => at > 0 && start !== (names[at - 1] as Word).end + 1);
  return gap === -1 ? names : names.slice(0, gap);
}

function textIn(question: string, words: readonly Word[]): string {
  return words.map((word) => bareName(question, word)).join(" ");
}

/** A word as it is written, without what clings to it. */
function bareName(question: string, word: Word): string {
  const text = written(question, word);
  if (/^[0-9]{1,2}\.$/.test(text) && word.end < question.length) return text;
  const at = text.toLowerCase().indexOf(word.bare);
  return text.slice(at, at + word.bare.length).replace(ENDING, "");
}

/** What is looked for in the place of a word: without its ending, since a file may have it with another. */
function root(word: string): string {
  const found = stem(word.replace(ENDING, ""));
  return found.length >= SHORT ? found : word;
}

function written(question: string, { start, end }: Word): string {
  return question.slice(start, end);
}

function isCapital(question: string, { start }: Word): boolean {
  return /^\p{Lu}/u.test(question.slice(start));
}
