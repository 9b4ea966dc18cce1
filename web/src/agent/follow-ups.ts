import type { ToolDescriptor } from "../protocol/generated.ts";
import { askedActs, bareThing, isThing } from "./acts.ts";
import { isForAnother } from "./asked.ts";
import { askedAgain } from "./asked-again.ts";
import { codeAsked } from "./code-asked.ts";
import { callsUnderWay, foundFiles, searches } from "./further.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { isFile, readerAmong } from "./reading.ts";
import { entryTakenBack } from "./taken-back.ts";
import { progressOf } from "./turn-progress.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { type Word, wordsOf } from "./words.ts";

/*
 * A wish that stands only beside the one before it, as a whole one: "no, I meant b.txt", "do it again for b.txt", "and warnings?".
 *
 * Whoever reads a wish reads it by itself, the loop by its words and a small model as it was taught. So what such a wish leaves out
 * is put in once, before any of that: the wish before it with another thing, or with another word for what it asks; and the one file
 * that was shown last for "it". A file's name comes out of the person's words, or is the one of a file that was listed, found or read
 * for them; what is done with it is asked of the gateway as ever.
 */

type Tools = readonly ToolDescriptor[];

/** Words of a wish that may lean on the one before it. */
const MOST_WORDS = 10;
/** Words for what is asked in the place of something else. */
const MOST_NAMED = 3;

const LEADS = `(?:(?:${anyOf([...vocabulary.correctingWords, ...vocabulary.cues, ...vocabulary.followLeads])})[,.!:]? )*`;
const KINDS = "(?:(?:the )?(?:file|folder) )?";
const END = `(?:,? (?:${anyOf([...wishWords.tails, ...vocabulary.repeatingTails])}))*[?.!]*$`;
const LINKS = anyOf(vocabulary.leadingPrepositions);
const AGAIN = anyOf(vocabulary.repeatingTails);
/** How such a wish begins, and what of the one before it is to be another: after which word, and what it is now. */
const FORMS = [
  `^${LEADS}(?:${anyOf(vocabulary.meantVerbs)})():? ${KINDS}(.+?)(?:,? not \\S+?)?${END}`,
  `^(?:(?:${anyOf(vocabulary.correctingWords)})[,.!:]? )+()${KINDS}(\\S*[./]\\S*?|the \\w+(?: one)?)(?:,? not \\S+?)?${END}`,
  `^${LEADS}(?:${anyOf(vocabulary.repeatedActs)})(?: (?:${AGAIN}))* (${LINKS}) ${KINDS}(.+?)${END}`,
  `^(?:(?:and )?(?:what|how) about|and),? (?:(${LINKS}) )?${KINDS}(.+?)${END}`,
].map((form) => new RegExp(form, "i"));

const ARTICLES = new RegExp(`^(?:(?:${anyOf(vocabulary.askedArticles)}) )+`, "i");
const JOIN = /,? (?:and|or) |, /;
const PREPOSITIONS: ReadonlySet<string> = new Set(vocabulary.leadingPrepositions);
const BEINGS = anyOf([...vocabulary.classifyingWords, ...vocabulary.helpers]);
/** A question, or what is looked for: what leads to it, the words for what is asked, and what comes behind them. */
const ASKED = new RegExp(
  `^(?<head>(?:(?<lead>${anyOf(vocabulary.askedLeads)})|how much (?<much>${BEINGS})|` +
    `(?<opener>${anyOf(vocabulary.askedOpeners)})(?:['’]?s| (?<helper>${BEINGS}))|who [a-z]+s) ` +
    `(?<article>(?:(?:${anyOf(vocabulary.askedArticles)}) )*))` +
    "(?<noun>[^ ,;.?!]+(?: [^ ,;.?!]+){0,2}?)" +
    `(?<tail>(?: (?:${LINKS}|(?<end>${anyOf(vocabulary.askedEnds)})|${BEINGS})\\b.*)?[?.! ]*)$`,
  "i",
);
const ASKS_NAMES: ReadonlySet<string> = new Set(["who", "what"]);
const ONE = /^an? /i;
const QUESTIONS: ReadonlySet<string> = new Set(vocabulary.askingWords);
const CLASSIFYING: ReadonlySet<string> = new Set(vocabulary.classifyingWords);

const CAPITAL = /^\p{Lu}/u;
const CODE = /^[A-Za-z_][A-Za-z0-9_]*(?:\(\))?$/;
const NAMES = /(?<=[a-z,] )[A-Z][\p{L}\p{N}_-]+(?: [A-Z][\p{L}\p{N}_-]+)*(?![\p{L}\p{N}_'’-])/gu;
const PLACES = new Map(Object.entries({ ...vocabulary.linePlaces, ...vocabulary.morePlaces }));
const ORDINAL = `the (${anyOf([...PLACES.keys(), "next", "other"])})(?: (?:one|file|${anyOf(vocabulary.documentNouns)}))?`;
const PLACED = new RegExp(`^${ORDINAL}$`, "i");
const ORDERED = new RegExp(`^((?:[a-z]+ )+?)${ORDINAL}((?:,? (?:${anyOf(wishWords.tails)}))*[?.!]*)$`, "i");
const DAYS: ReadonlySet<string> = new Set([...vocabulary.weekdays, ...vocabulary.months.flat()]);
const NO_THINGS: ReadonlySet<string> = new Set([...DAYS, ...Object.keys(vocabulary.nearDays)]);
const POINTS = /\b(?:it|(?:this|that|the) (?:file|list|note))(?=[,.!?]*(?: |$))/gi;
const INTO = new RegExp(`(\\b(?:${anyOf(vocabulary.entryLinks)}) )${POINTS.source}`, "i");
/** An answer that is to be written down: "write that down in a.txt". */
const KEEPS = new RegExp(
  `^${LEADS}(?:${anyOf([...vocabulary.enteringVerbs, ...vocabulary.fillingVerbs])}) (?:it|this|that)(?: down)? ` +
    `(?:${anyOf(vocabulary.entryLinks)}|as) ([^ ]+?)${END}`,
  "i",
);
/** Characters of an answer that is written down. */
const LONGEST = 300;
const ENTERS: ReadonlySet<string> = new Set(vocabulary.enteringVerbs);
const BEGINS: ReadonlySet<string> = new Set([
  ...[wishWords.imperatives, wishWords.commands, wishWords.pronouns].flat(),
  ...[vocabulary.askingWords, vocabulary.yesNoWords, vocabulary.fillers, vocabulary.cues].flat(),
]);
const NO_ENTRY: ReadonlySet<string> = new Set([
  ...[...vocabulary.leadingPrepositions, "into", "onto", "up"],
  ...vocabulary.listNouns,
]);
const LEADING: ReadonlySet<string> = new Set([...vocabulary.fillers, ...vocabulary.cues]);

/** The same messages, with each wish that leans on the one before it as a whole one. */
export function withWholeWishes(messages: readonly Message[], tools: Tools): Message[] {
  const made: Message[] = [];
  let [wish, turn] = ["", ""];
  for (const each of messages) {
    if (each.role === "user" && each.turnId !== turn) {
      wish = wholeWish(each.content, wish, made, tools);
      turn = each.turnId;
      made.push(wish === each.content ? each : { ...each, content: wish });
    } else made.push(each);
  }
  return made;
}

/**
 * The actions of a turn, of which the one under way names the file that the one before it was about where it leaves that out: "show
 * me the packing list and add sunglasses".
 */
export function withWholeAction(
  actions: readonly string[] | null,
  messages: readonly Message[],
  turnId: string,
  tools: Tools,
): readonly string[] | null {
  const { finished } = progressOf(messages, turnId);
  const action = actions?.[finished];
  if (actions === null || action === undefined || finished === 0) return actions;
  const own: readonly Message[] = callsUnderWay(messages, turnId);
  const before = messages.filter((each) => !own.includes(each));
  return actions.with(finished, withPlace(action, before, tools));
}

/**
 * What somebody said, as a wish that stands by itself after this one and after these messages; itself where it does, or where it is not
 * clear what it leaves out.
 */
export function wholeWish(said: string, wish: string, messages: readonly Message[], tools: Tools): string {
  const text = said.trim();
  const count = wordsOf(text).length;
  if (text.includes("\n") || count === 0 || count > MOST_WORDS) return said;
  const again = entryTakenBack(text, messages, tools) || askedAgain(text, wish);
  if (again !== "") return again;
  const shown = shownFiles(messages, tools);
  for (const form of FORMS) {
    const [, link = "", named = ""] = form.exec(text) ?? [];
    const whole = named === "" ? "" : another(link, named, wish, shown);
    if (whole !== "") return whole;
  }
  const [, head = "", place = "", tail = ""] = ORDERED.exec(text) ?? [];
  if (place !== "" && thingsIn(text).length === 0) {
    const file = fileAt(place, "", shown);
    return file === "" ? said : `${head}${file}${tail}`;
  }
  return kept(text, messages) || withPlace(said, messages, tools);
}

/** The wish to write the last answer into a file, with its words; empty for any other, and where it is more than a line. */
function kept(text: string, messages: readonly Message[]): string {
  const file = bareThing(KEEPS.exec(text)?.[1] ?? "");
  const last = messages.at(-1);
  const answer = last?.role === "assistant" ? last.content.trim().replace(/ \(`[^()]*\)$/, "") : "";
  const isLine = answer.length <= LONGEST && /^[^"`\n]+$/.test(answer);
  return isLine && isThing(file) && isFile(file) ? `write "${answer}" to ${file}` : "";
}

/** The wish with something else in it; empty where it is not clear in which place. */
function another(link: string, named: string, wish: string, shown: readonly string[]): string {
  const [[thing, ...others], given] = [thingsIn(wish), thingsIn(named)];
  const only = others.length === 0 ? (thing ?? "") : "";
  if (named.split(JOIN).every((each) => given.includes(bareThing(each)))) {
    return only !== "" && given.every((each) => kindOf(each) === kindOf(only))
      ? wish.replaceAll(only, () => named)
      : "";
  }
  const place = PLACED.exec(named)?.[1];
  if (place !== undefined) {
    const path = fileAt(place, only, shown);
    if (path === "") return "";
    return shown.includes(only) ? wish.replaceAll(only, () => path) : `read ${path}`;
  }
  return given.length > 0 || begins(named) ? "" : askedFor(link, named, wish);
}

/** The wish with other words for what it asks: behind the same preposition, for another day, or in the place of its noun. */
function askedFor(link: string, told: string, wish: string): string {
  const named = told.replace(ARTICLES, "");
  if (wordsOf(named).length > MOST_NAMED) return "";
  const [day, ...others] = wordsOf(wish).filter(({ bare }) => DAYS.has(bare));
  if (DAYS.has(named.toLowerCase()) && day !== undefined && others.length === 0) return put(wish, day, named);
  if (link !== "") {
    const at = wish.lastIndexOf(` ${link} `);
    const tail = wish.slice(at + link.length + 2);
    const isShort = at > 0 && wordsOf(tail).length <= MOST_NAMED;
    return isShort ? `${wish.slice(0, at)} ${link} ${named}${/[?.!]*$/.exec(tail)?.[0]}` : "";
  }
  const code = codeAsked(wish);
  if (code !== null) return CODE.test(named) ? withWord(wish, code.name, named) : "";
  if (NO_THINGS.has(named.toLowerCase())) return "";
  const isName = CAPITAL.test(named);
  const [name, ...more] = namesIn(wish);
  if (isName && name !== undefined) return more.length > 0 || isPlacedIn(name, wish) ? "" : withWord(wish, name, named);
  const asked = ASKED.exec(wish)?.groups;
  if (asked === undefined || /^\p{Nd}/u.test(named) || !isNoun(asked, isName)) return "";
  // One thing does not stand for several, nor for what there is no number of: "how many eggs do we need?" and "an apple".
  const isAlike = !ONE.test(named) || ONE.test(asked.noun as string);
  // "And the pantry" may be another place as well: only what is told alike is another thing.
  const isClear =
    told === named ? isPlural(named) || asked.article === "" : isPlural(named) === isPlural(asked.noun as string);
  const isPlain = !(asked.tail as string).startsWith(" ") || isClear;
  return isAlike && isPlain ? `${asked.head}${named}${asked.tail}` : "";
}

/** Whether the words for what is asked are that and no more, so that others can stand for them. */
function isNoun(asked: Readonly<Record<string, string | undefined>>, isName: boolean): boolean {
  const noun = asked.noun as string;
  const words = wordsOf(noun).map(({ bare }) => bare);
  const [first] = words;
  if (first === undefined || isThing(noun) || PREPOSITIONS.has(first)) return false;
  // Of "Anna's number" it is not clear which of the two is to be another; a name is asked for in the place of a name.
  if (words.length > 1 && words.some((word) => /['’]s$/.test(word))) return false;
  if (isName && !noun.split(" ").every((word) => CAPITAL.test(word))) return false;
  // "What is open?" asks for no such thing as "open".
  const isBare = ASKS_NAMES.has((asked.opener ?? "").toLowerCase()) && asked.article === "" && asked.end === undefined;
  if (isBare && !(isPlural(noun) || CAPITAL.test(noun) || ONE.test(noun))) return false;
  // A question whose verb comes behind has it among these words: "when does the shop open?", "which recipes use eggs?".
  const helper = asked.helper ?? asked.much;
  if (helper !== undefined && !CLASSIFYING.has(helper.toLowerCase())) return asked.end !== undefined;
  const lead = asked.lead?.toLowerCase().replace(/ .*/, "") ?? "";
  return !QUESTIONS.has(lead) || words.length === 1 || (asked.tail as string).startsWith(" ");
}

function isPlural(text: string): boolean {
  return /s$/i.test(text);
}

/** The wish with something else in the place of a word of it, the first that is just that. */
function withWord(wish: string, word: string, named: string): string {
  const whole = `(?<![\\p{L}\\p{N}_])(?:${anyOf([word])})(?![\\p{L}\\p{N}_])`;
  return wish.replace(new RegExp(whole, "u"), () => named);
}

/** Whether a preposition stands before a name. What was bought at Lidl was not bought at Milk. */
function isPlacedIn(name: string, wish: string): boolean {
  const words = wordsOf(wish).map(({ bare }) => bare);
  const first = wordsOf(name)[0]?.bare as string;
  return words.slice(1).some((word, at) => word === first && PREPOSITIONS.has(words[at] as string));
}

/** The names of a question, those that stand side by side as one, without days. */
function namesIn(wish: string): string[] {
  const bare = new Set(wordsOf(wish).map((word) => word.bare));
  const names = [...new Set(wish.match(NAMES) ?? [])].filter((each) => !DAYS.has(each.toLowerCase()));
  return names.filter((each) => wordsOf(each).every((word) => bare.has(word.bare)));
}

/**
 * A wish for a change that names no file, with the one file that the call before it found for "it", or, where something is added and no
 * place for it is told, that it found or read.
 */
function withPlace(said: string, messages: readonly Message[], tools: Tools): string {
  const words = wordsOf(said).filter(({ bare }) => !LEADING.has(bare));
  const [first] = words;
  const last = messages.findLast((each) => each.role === "tool");
  if (last === undefined || first === undefined || thingsIn(said).length > 0) return said;
  const file = fileOf(last, tools);
  if (file === "") return said;
  const enters = ENTERS.has(first.bare);
  const isChange = enters || askedActs(said).some(({ act }) => act !== "read");
  const points = said.match(POINTS)?.length ?? 0;
  if (isChange && searches(last) && points === 1) return said.replace(POINTS, () => file);
  if (enters && points === 1 && INTO.test(said)) return said.replace(INTO, (_, into: string) => `${into}${file}`);
  const isBare = enters && words.length > 1 && !words.some(({ bare }) => NO_ENTRY.has(bare));
  if (!isBare || points > 0 || isForAnother(said, tools)) return said;
  return `${said.trim().replace(/[.!]+$/, "")} to ${file}`;
}

/** The one file that a call read or found; empty for any other. */
function fileOf(last: ToolMessage, tools: Tools): string {
  const reader = readerAmong(tools);
  if (last.call.name === reader?.name && last.result.outcome === "ok") return String(last.call.arguments[reader.path]);
  const [file = "", ...others] = foundFiles(last, tools);
  return others.length === 0 ? file : "";
}

/** The files of the newest list that has more than one. */
function shownFiles(messages: readonly Message[], tools: Tools): string[] {
  for (const each of messages.toReversed()) {
    const files = each.role === "tool" ? foundFiles(each, tools) : [];
    if (files.length > 1) return files;
  }
  return [];
}

/** The file of a list that is told by its place, or by the one that was meant before it; empty where there is none. */
function fileAt(place: string, thing: string, shown: readonly string[]): string {
  const word = place.toLowerCase();
  if (word === "other") {
    const [other = "", ...more] = shown.filter((each) => each !== thing);
    return shown.length === 2 && more.length === 0 ? other : "";
  }
  if (word === "next") return shown.includes(thing) ? (shown[shown.indexOf(thing) + 1] ?? "") : "";
  const number = PLACES.get(word) as number;
  return shown.at(number > 0 ? number - 1 : -1) ?? "";
}

/** Whether it is a wish of its own, or a question. */
function begins(named: string): boolean {
  const [first] = wordsOf(named);
  return first === undefined || BEGINS.has(first.bare);
}

/** The names of files, folders and addresses in a text. */
function thingsIn(text: string): string[] {
  const names = wordsOf(text).map(({ start, end }) => bareThing(text.slice(start, end)));
  return [...new Set(names.filter(isThing))];
}

function kindOf(thing: string): string {
  return `${thing.endsWith("/")} ${isFile(thing)}`;
}

/** The wish with something else in the place of a word, and the marks around it as they are. */
function put(wish: string, { start, end, bare }: Word, named: string): string {
  const written = wish.slice(start, end);
  const at = written.toLowerCase().indexOf(bare);
  return `${wish.slice(0, start)}${written.slice(0, at)}${named}${written.slice(at + bare.length)}${wish.slice(end)}`;
}
