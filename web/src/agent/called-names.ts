import { figureIn } from "./figures.ts";
import { stem, termsIn } from "./ranking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { wordsOf } from "./words.ts";

/* What a question calls by its name, of the files and folders that a search for all names found. */

type Terms = ReadonlySet<string>;

/** What a question calls by its name: a folder with the files below it, or files; never both. */
export interface Meant {
  readonly folder: string;
  readonly files: readonly string[];
}

/** Terms that call no file: they say what is done with it. */
const LIGHT: Terms = new Set(
  [
    ...vocabulary.lightWords,
    ...vocabulary.askingWords,
    ...vocabulary.commonTerms,
    ...vocabulary.passedOver,
    ...vocabulary.figureNouns,
    ...vocabulary.comparingVerbs,
    ...vocabulary.folderNouns,
    ...vocabulary.measures,
    ...Object.values(vocabulary.figures).flat(),
    ...Object.values(vocabulary.comparedBy).flatMap((words) => words.flatMap((phrase) => phrase.split(" "))),
  ].map(stem),
);
/** Words for the same kind of paper: what is asked of meetings may stand in a folder of minutes. */
const KINDS: readonly Terms[] = Object.entries(vocabulary.kindFolders).map(
  ([kind, names]) => new Set([kind, ...names].map(stem)),
);
const COMPARING: Terms = new Set(vocabulary.comparingVerbs);
const FILES: Terms = new Set(vocabulary.countedNouns.file);
/** What is counted and compared for itself, and called by no name. */
const PLACES: Terms = new Set([...vocabulary.countedNouns.file, ...vocabulary.folderNouns].map(stem));
const KIND_FORMS: Terms = new Set(Object.values(vocabulary.kindFolders).flat());
/** What calls nothing. Without its ending, "notes" would be called by a "not". */
const PASSED = new RegExp(`['’](?:${anyOf(vocabulary.contractions)})\\b|\\b(?:not|never)\\b`, "gi");
const CLINGING = new RegExp(`['’](?:${anyOf(vocabulary.contractions)})\\b`, "gi");
const SHORTENED = /n['’]t\b/gi;
/** Verbs that a "not" has grown into: "can't", "won't", "shan't". */
const WORN: Readonly<Record<string, string>> = { can: "can", wo: "will", sha: "shall" };
const WORN_NOT = /\b(can|wo(?=n)|sha(?=n))n?['’]t\b/gi;
/** A verb that is asked with its "not": "isn't the rent due?" denies no rent. */
const OPENING = new RegExp(`((?:^|[.;!?]\\s)\\s*(?:(?:${anyOf(wishWords.fillers)})\\b,? )*[a-z]+?)n['’]t\\b`, "gi");
const PASSING = anyOf([...vocabulary.passedOver, ...vocabulary.commonTerms]);
const DENIED = new RegExp(`\\b(?:not|never)\\b(?: (?:${PASSING})\\b)*(?: [\\w-]+)?`, "gi");
/** What a name itself says "not" by. Only such a one is called by what is denied: "not paid" calls no "paid.csv". */
const DENYING = /(?<![a-z0-9])(?:not|never)(?![a-z0-9])/i;
const PLAIN: Terms = new Set(vocabulary.plainListingWords);
const PAIR = 2;
/** Files that are compared at once. */
const FEW = 3;

/** Whether it has things compared by that word. */
export function compares(wish: string): boolean {
  return saysAny(wish, COMPARING);
}

/**
 * What a question calls by its name, of these paths; null where that is nothing, or in doubt. A folder may as well be called by
 * another word for the same kind of paper, and the only file of its kind by its ending: "the log".
 */
export function meantIn(wish: string, paths: readonly string[]): Meant | null {
  const spelled = wish
    .replaceAll(CLINGING, "")
    .replaceAll(WORN_NOT, (_, verb: string) => `${WORN[verb.toLowerCase()]}n't`);
  const whole = spelled.replaceAll(OPENING, "$1").replaceAll(SHORTENED, " not");
  const said = new Set(termsIn(whole.replaceAll(DENIED, " ")));
  const denied = new Set(termsIn(whole));
  const called = paths.filter((path) => isCalled(stemOf(path), DENYING.test(stemOf(path)) ? denied : said));
  if (compares(wish)) {
    const isLike = (path: string) => wordsIn(stemOf(path)).some((term) => said.has(term));
    const files = called.length < PAIR ? paths.filter(isLike) : called;
    return files.length >= PAIR && files.length <= FEW ? { folder: "", files } : null;
  }
  const named = longestOf(called);
  const files = named.length > 1 ? named.filter((path) => isCalled(stemOf(path), askedKind(wish))) : named;
  if (files.length === 1) return { folder: "", files };
  const folders = [...new Set(paths.flatMap(foldersOf))];
  for (const [words, negated] of [
    [said, denied],
    [withKinds(said), withKinds(denied)],
  ] as const) {
    const [folder, ...others] = folders.filter((each) =>
      isCalled(lastOf(each), DENYING.test(lastOf(each)) ? negated : words),
    );
    if (folder === undefined) continue;
    return others.length > 0 ? null : { folder, files: paths.filter((path) => path.startsWith(`${folder}/`)) };
  }
  const ending = paths.filter((path) => said.has(path.slice(path.lastIndexOf(".") + 1).toLowerCase()));
  return ending.length === 1 && named.length === 0 ? { folder: "", files: ending } : null;
}

/** What is asked for by "which" or "how many". */
export function askedKind(wish: string): Terms {
  const words = wordsOf(wish).map(({ bare }) => bare);
  return new Set(
    words.slice(1).flatMap((word, at) => (["which", "many"].includes(words[at] as string) ? termsIn(word) : [])),
  );
}

/** Those whose names have most words: "spring concert" is called before "spring". */
function longestOf(files: readonly string[]): readonly string[] {
  const counts = files.map((path) => wordsIn(stemOf(path)).length);
  return files.filter((_, at) => counts[at] === Math.max(...counts));
}

/** The terms of a wish that may call something. */
export function callingTerms(wish: string): Terms {
  const whole = allOf(wish);
  const calls = (term: string) => whole.includes(term) || !LIGHT.has(term) || KINDS.some((kind) => kind.has(term));
  return new Set(termsIn(wish.replaceAll(PASSED, "")).filter(calls));
}

/** The terms of what a number is worked out over, whatever it is called: "the total of all orders". */
function allOf(wish: string): string[] {
  const words = wordsOf(wish).map(({ bare }) => bare);
  const figure = figureIn(wish);
  if (figure === null || figure === "count" || !words.includes("all")) return [];
  const noun = words.slice(words.indexOf("all") + 1).find((word) => !vocabulary.pluralArticles.includes(word));
  return noun?.endsWith("s") ? termsIn(noun).filter((term) => !PLACES.has(term)) : [];
}

export function withKinds(terms: Terms): Terms {
  const kinds = KINDS.filter((kind) => [...terms].some((term) => kind.has(term)));
  return new Set([...terms, ...kinds.flatMap((kind) => [...kind])]);
}

function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function stemOf(path: string): string {
  const name = lastOf(path);
  return name.slice(0, Math.max(0, name.lastIndexOf("."))) || name;
}

/** The words of a name: no figures, which are days and numbers. */
function wordsIn(name: string): string[] {
  return termsIn(name).filter((term) => !/\p{Nd}/u.test(term));
}

function isCalled(name: string, said: Terms): boolean {
  const words = wordsIn(name);
  return words.length > 0 && words.every((word) => said.has(word));
}

/** Whether it asks how many there are of what a folder is called after, all of them. */
export function asksCount(wish: string, folder: string): boolean {
  const words = wordsOf(wish).map(({ bare }) => bare);
  const named = withKinds(new Set(termsIn(lastOf(folder))));
  const after = words.includes("many") ? words[words.indexOf("many") + 1] : undefined;
  const isAll = [...callingTerms(wish)].every((term) => named.has(term)) && figureIn(wish) === "count";
  return folder !== "" && isAll && after !== undefined && (named.has(stem(after)) || FILES.has(after));
}

/** Whether it asks which there are of what a folder is called after, all of them: "which recipes do I have?". */
export function asksNames(wish: string, folder: string): boolean {
  const [opener = "", noun = "", ...rest] = wordsOf(wish).map(({ bare }) => bare);
  if (folder === "" || !["which", "what"].includes(opener) || noun === "") return false;
  if (!noun.endsWith("s") && (Object.hasOwn(vocabulary.kindFolders, noun) || !KIND_FORMS.has(noun))) return false;
  return withKinds(new Set(termsIn(lastOf(folder)))).has(stem(noun)) && rest.every((word) => PLAIN.has(word));
}

export function saysAny(wish: string, words: Terms): boolean {
  return wordsOf(wish).some(({ bare }) => words.has(bare));
}
