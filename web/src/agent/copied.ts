import limits from "../../../loop/limits.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { Message } from "./messages.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { isSpacedName, QUOTED, withoutGiven } from "./words.ts";

/** The strings that a person wrote and that an argument may repeat. */
export interface CopyableStrings {
  readonly names: readonly string[];
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly urls: readonly string[];
}

export const NOTHING_SAID: CopyableStrings = { names: [], files: [], folders: [], urls: [] };

const LIMITS: Readonly<Record<string, Readonly<Record<string, string>>>> = words.action.copied;

/** More than this is a pasted document, and a grammar of it would take longer than the answer. */
const MAX_STRINGS = limits.copiedStrings;

const ENDED = /\.[A-Za-z][A-Za-z0-9]*$/;

/** How the name of a file ends. `.config` is a folder as well as a file. */
const FILE = /[^/]\.[A-Za-z][A-Za-z0-9]*$/;
const AMOUNT = /^[$€£¥]?[0-9][0-9.,/]*[%$€£¥]?$/;

/** Words by which a wish may be about files that it does not name. */
const BACK = new RegExp(`\\b(?:${anyOf(vocabulary.fileReferences)})\\b`, "i");
const POINTED = new RegExp(`\\b(?:${anyOf(vocabulary.pointedFiles)})\\b`, "i");

const BARE: ReadonlySet<string> = new Set(vocabulary.bareFiles);

/** Words of any sentence, none of which names a folder by itself. With a slash at its end it does. */
const NO_FOLDERS: ReadonlySet<string> = new Set(vocabulary.noFolders);
const HOLDING: ReadonlySet<string> = new Set(vocabulary.folderNouns);
const PLACING: ReadonlySet<string> = new Set([...vocabulary.insideWords, ...vocabulary.placingWords]);
const DETERMINERS: ReadonlySet<string> = new Set(wishWords.determiners);
const BEFORE = "\"'`()[]<>,;:!?";
const AFTER = `${BEFORE}.`;

/**
 * What can be copied out of everything the person wrote in this conversation. A path, file or address that a small model
 * uses has to be one of these: it cannot make one up, nor take one out of what a file said. A `wish` that names its files is
 * about no others: shown an older name, a small model writes over that one. So are its folders: those where a folder's name stands,
 * or else all its words that can be one.
 */
export function copyableStrings(messages: readonly Message[], wish = ""): CopyableStrings {
  const said = messages.flatMap((message) => (message.role === "user" ? [message.content] : [])).reverse();
  const { names, urls } = stringsIn(said);
  const naming = stringsIn(said.map(withoutGiven)).names;
  const own = stringsIn([withoutGiven(wish)]).names;
  const named = filesIn(own);
  const isPlain = named.some((name) => ENDED.test(name)) && !BACK.test(wish);
  const folders = [foldersSaid(wish), foldersIn(own)].find((found) => found.length > 0) ?? foldersIn(naming);
  return { names, urls, folders, files: isPlain ? named : filesIn(naming) };
}

/** Whether a wish may be about a file that another one names: "it", "that note". */
export function pointsBack(wish: string): boolean {
  return BACK.test(wish) || POINTED.test(wish);
}

/** What can be copied out of texts. */
function stringsIn(texts: readonly string[]): { names: string[]; urls: string[] } {
  const quoted = texts.flatMap((text) =>
    [...text.matchAll(/"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`|“([^”\n]+)”/g)].map(innerOf),
  );
  const plain = texts.flatMap((text) => withoutSpaced(text).split(/\s+/)).map(strip);
  const all = [...new Set([...plain, ...quoted])].filter((word) => word !== "").slice(0, MAX_STRINGS);
  const urls = all.filter((word) => /^https?:\/\//.test(word));
  return { names: all.filter((word) => !urls.includes(word)), urls };
}

/** A text without the names that have spaces in them: no piece of one is a name. */
function withoutSpaced(text: string): string {
  return text.replace(QUOTED, (quoted) => (isSpacedName(quoted.slice(1, -1)) ? " " : quoted));
}

/**
 * The names that can be files'. An amount is none, for all its dot. A file without an ending is known by its spelling, where no
 * other is named.
 */
function filesIn(names: readonly string[]): string[] {
  const named = names.filter((name) => /[/.]/.test(name) && !name.endsWith("/") && !AMOUNT.test(name));
  return named.length > 0 ? named : names.filter((name) => BARE.has(name));
}

/** The names that can be folders': neither a file's nor a word such as "here", for which there is the folder `.`. */
function foldersIn(names: readonly string[]): string[] {
  return names.filter((name) => !(FILE.test(name) || BARE.has(name) || NO_FOLDERS.has(name.toLowerCase())));
}

/** The folders that a wish names where a folder's name stands. */
export function foldersSaid(wish: string): string[] {
  return foldersIn(placedIn(withoutGiven(wish)));
}

/** The words of a wish that stand where a folder's name does: "in the mail", "the mail folder", "mail/". */
function placedIn(wish: string): string[] {
  const words = withoutSpaced(wish)
    .split(/\s+/)
    .map(strip)
    .filter((word) => word !== "");
  let before = "";
  const placed = words.filter((word, at) => {
    const lowered = word.toLowerCase();
    const isPlaced = PLACING.has(before) || HOLDING.has(words[at + 1]?.toLowerCase() ?? "");
    if (!DETERMINERS.has(lowered)) before = lowered;
    return word.includes("/") || (isPlaced && !PLACING.has(lowered));
  });
  return [...new Set([...placed, ...stringsIn([wish]).names.filter((each) => each.includes(" "))])];
}

/** What an argument of a built-in tool may be, or null when it is free. */
export function choicesFor(tool: string, argument: string, from: CopyableStrings): readonly string[] | null {
  const limits = Object.hasOwn(LIMITS, tool) ? LIMITS[tool] : undefined;
  switch (limits !== undefined && Object.hasOwn(limits, argument) ? limits[argument] : undefined) {
    case "folders":
      return [...from.folders, "."];
    case "files":
      return from.files;
    case "urls":
      return from.urls;
    default:
      return null;
  }
}

function strip(word: string): string {
  let [begin, end] = [0, word.length];
  while (begin < end && BEFORE.includes(word.charAt(begin))) begin++;
  while (end > begin && AFTER.includes(word.charAt(end - 1))) end--;
  return word.slice(begin, end);
}

function innerOf(match: RegExpMatchArray): string {
  // Only one of the kinds of quotes matched; the others join as nothing.
  return match.slice(1).join("");
}
