import limits from "../../../loop/limits.json" with { type: "json" };
import type { Message } from "./messages.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { isSpacedName, QUOTED } from "./words.ts";

/*
 * Names with spaces that a person wrote without quotes, "open meeting notes.txt", put into quotes.
 *
 * All that reads a wish takes for a word what stands between spaces, and a name in quotes for one. So a name is found once, before
 * any of that. Where it begins the words tell: after the last one before it that no name has.
 */

/** Characters of a message that is read for names. A longer one holds a text to work on. */
const MOST = limits.actions * limits.actionCharacters;

/** Words of a name beside its last one. */
const MOST_WORDS = 4;

const WORD = /[^ \t\r\n]+/g;
const MARK = /(?<![^ \t\r\n(])@(?=[A-Za-z0-9_.~-]*[A-Za-z0-9_-](?:\/|\.[A-Za-z]))/g;
const STOP = /[,;:.!?)]+$/;

/** How the last word of a name looks: with the ending of a file, or with the slash of a folder. */
const LAST = new RegExp(
  `^(?:[A-Za-z0-9_](?:[^"\`“”:@]*[A-Za-z0-9_)-])?\\.(?!(?:${anyOf(vocabulary.siteEndings)})$)[A-Za-z][A-Za-z0-9]{0,9}|[A-Za-z0-9_][^"\`“”:@.]*/)$`,
  "i",
);
const PART = /^[A-Za-z0-9\u00c0-\u024f&_][A-Za-z0-9\u00c0-\u024f&_/'’-]*$/;

/** How a word begins that is written as a name, or a number. */
const TOLD = /^[A-Z0-9\u00c0-\u00de]/;

/** How most verbs end that tell what was done: "I renamed a.txt". */
const PAST = /^[a-z]{2,}[a-z]ed$/;

const VERBS = new Set([
  ...wishWords.imperatives,
  ...wishWords.commands,
  ...wishWords.synonyms,
  ...vocabulary.takingWords,
  ...vocabulary.havingVerbs,
  ...Object.values(vocabulary.acts).flatMap(({ verbs }) => verbs),
]);

/** Words after which a name begins: none is taken to hold one of them. */
const UNNAMING = new Set(
  [
    ...[vocabulary.fillers, vocabulary.cues, vocabulary.noFolders, vocabulary.commonTerms, vocabulary.namingWords],
    ...[vocabulary.linkWords, vocabulary.phraseEnds, vocabulary.untoldAdjectives, vocabulary.askingWords],
    ...[vocabulary.documentNouns, vocabulary.folderNouns, vocabulary.insideWords, vocabulary.placingWords],
    ...[vocabulary.contentVerbs, vocabulary.aboutWords, vocabulary.pictureKinds, vocabulary.articles],
    ...[vocabulary.listNouns, vocabulary.openingVerbs, vocabulary.explainingVerbs, vocabulary.fileEndings],
    ...[vocabulary.exceptingWords, vocabulary.holdingVerbs, vocabulary.keepingHelpers, vocabulary.neverNamed],
    ...[wishWords.fillers, wishWords.prepositions, wishWords.determiners, wishWords.negations, wishWords.sharing],
    ...[wishWords.particles, wishWords.adverbs, Object.keys(wishWords.irregularForms)],
    ...[vocabulary.meantVerbs, vocabulary.correctingWords, vocabulary.repeatedActs],
  ]
    .flat()
    .flatMap((phrase) => phrase.split(" ")),
);

const FOLDERS = new Set(vocabulary.folderNouns);
const NAMINGS = new Set(vocabulary.namedBy);
const INSIDE = new Set(vocabulary.insideWords);
const HELD = new Set(vocabulary.heldLeads);
const WORLD = new Set(vocabulary.worldNames);

/** The first and the last word of a name, and what is to be added to it. */
type Span = readonly [first: number, last: number, mark: string];

/** The same messages, with the names quoted in what the person said. */
export function withNamesQuoted(messages: readonly Message[]): Message[] {
  return messages.map((each) => (each.role === "user" ? { ...each, content: quoteNames(each.content) } : each));
}

/** A message in which a file is named without the mark that some put before one: "@notes/a.txt". */
function withoutMarks(message: string): string {
  const quoted = [...message.matchAll(QUOTED)].map(({ 0: text, index }) => [index, index + text.length] as const);
  return message.replaceAll(MARK, (mark, at: number) =>
    quoted.some(([since, to]) => since < at && at < to) ? mark : "",
  );
}

/** A message with its names of files and folders that have spaces in quotes. */
export function quoteNames(said: string): string {
  if (said.length > MOST) return said;
  const message = withoutMarks(said);
  const quoted = [...message.matchAll(QUOTED)].map(({ 0: text, index }) => [index, index + text.length] as const);
  const places = [...message.matchAll(WORD)].map(({ 0: text, index }) => [index, index + text.length] as const);
  const words = places.map(([start, end]) =>
    quoted.some(([since, to]) => start < to && since < end) ? "" : message.slice(start, end),
  );
  return words
    .flatMap((_, at): Span[] => endedAt(words, at) ?? folderAfter(words, at))
    .reduceRight((said, [first, last, mark]) => {
      const [start] = places[first] as readonly [number, number];
      const end = (places[last] as readonly [number, number])[0] + bareOf(words[last]).length;
      const name = `${said.slice(start, end)}${mark}`;
      return isSpacedName(name) ? `${said.slice(0, start)}"${name}"${said.slice(end)}` : said;
    }, message);
}

/**
 * The name that a path may be only the end of, where the word before its first folder can be one of that folder's name: "release
 * notes/draft.txt" of "notes/draft.txt". Null where nothing is in doubt; what is in quotes never is.
 */
export function longerName(message: string, path: string): string | null {
  const unquoted = message.replaceAll(QUOTED, (quoted) => "_".repeat(quoted.length));
  const words = [...unquoted.matchAll(WORD)].map(([word]) => word);
  for (const [at, word] of words.entries()) {
    let first = at;
    while (first > 0 && at - first < MOST_WORDS && isPart(words, first - 1) && !STOP.test(words[first - 1] as string)) {
      first -= 1;
    }
    // "A script src/a.py" says what it is.
    const isDescribed = ["a", "an"].includes((words[first - 1] ?? "").toLowerCase());
    if (path.includes("/") && bareOf(word) === path && first < at && !isDescribed) {
      return [...words.slice(first, at), path].join(" ");
    }
  }
  return null;
}

/** A name that ends here by how it looks. */
function endedAt(words: readonly string[], at: number): Span[] | null {
  let first = at;
  while (first > 0 && at - first < MOST_WORDS && isPart(words, first - 1) && joins(words[first - 1], words[first])) {
    first -= 1;
  }
  return first < at && LAST.test(bareOf(words[at])) ? [[first, at, ""]] : null;
}

/**
 * Whether two words can be of one name. A path begins with its first folder, of whose name only a figure tells that the word before
 * it is a part: "Invoices 2026/may.txt".
 */
function joins(before = "", word = ""): boolean {
  const isPath = word.includes("/") && !before.includes("/");
  return !STOP.test(before) && !(isPath && !(/^[0-9]/.test(word) && TOLD.test(before)));
}

/** A folder's name that begins after this word, with the slash that says what it is: "what is in Invoices 2026?". */
function folderAfter(words: readonly string[], at: number): Span[] {
  const [before, word] = [words[at - 1] ?? "", words[at] as string].map((each) => each.toLowerCase()) as [
    string,
    string,
  ];
  let last = at;
  while (last + 1 < words.length && isPart(words, last + 1) && !STOP.test(words[last] as string)) last += 1;
  const named = words.slice(at + 1, last + 1);
  const isCalled = FOLDERS.has(word) || (NAMINGS.has(word) && FOLDERS.has(before));
  const isTold =
    named.slice(1).some((each) => TOLD.test(each)) && !named.some((each) => WORLD.has(bareOf(each).toLowerCase()));
  const isFolder = isCalled || (isTold && INSIDE.has(word) && HELD.has(before));
  return isFolder && named.length > 1 && named.length <= MOST_WORDS ? [[at + 1, last, "/"]] : [];
}

/** Whether a word can be one of a name: neither a link nor an order, nor the end of another name. */
function isPart(words: readonly string[], at: number): boolean {
  const bare = bareOf(words[at]);
  const [word, before] = [bare.toLowerCase(), (words[at - 1] ?? "").toLowerCase()];
  const isOrder = VERBS.has(word) && !VERBS.has(before);
  const isFirst = at === 0 && !bare.includes("/");
  return PART.test(bare) && !UNNAMING.has(word) && !PAST.test(word) && !isOrder && !isFirst;
}

function bareOf(word = ""): string {
  return word.replace(STOP, "");
}
