import { askedActs, bareThing, isThing } from "./acts.ts";
import { apartQuery, doubtfulQuery, ownQueries, spends, TASKS } from "./affairs.ts";
import { codeAsked } from "./code-asked.ts";
import { isMonth } from "./monthly.ts";
import { namedThing, recordQuery } from "./named.ts";
import { OPEN, openQueries } from "./open-entries.ts";
import { datedPaper, placedPaper } from "./papers.ts";
import { planQueries } from "./plan-questions.ts";
import { asksAboutContent } from "./questions.ts";
import { stem } from "./ranking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { QUOTED, type Word, wordsOf } from "./words.ts";

/*
 * A wish for something that stands in a file which it does not name: what to look for, and what it asks of the file. "Find the
 * note that mentions Ana and tell me what she wants on Tuesday" is one wish with two halves. A small model that takes it apart, or
 * words the search, loses one of them; so both are read off the words, and a wish that does not show them is left alone.
 */

/**
 * What to look for, in which folder (empty for all), and what the wish asks of the file. `others` is what else to look for where
 * nothing holds the query, in this order; `own`: the wish has no word of files.
 */
export interface SoughtText {
  readonly query: string;
  readonly folder: string;
  readonly asked: string;
  readonly others: readonly string[];
  readonly own: boolean;
  /** A file that has nothing else of the question beside the query is not meant. */
  readonly apart?: boolean;
  /** Of several files it is asked which is meant. */
  readonly one?: boolean;
  /** The query is a name of a program, and where it is defined is meant. */
  readonly code?: boolean;
  /** The same, and no other file is. */
  readonly defined?: boolean;
}

const SEARCH = anyOf(vocabulary.searchPhrases);
const ENDS = anyOf(vocabulary.describedEnds);
const ASKING: ReadonlySet<string> = new Set(vocabulary.askingWords);
const NOUNS: ReadonlySet<string> = new Set(vocabulary.documentNouns);
const ASKS = anyOf([...vocabulary.askingWords, ...vocabulary.explainingVerbs, ...vocabulary.openingVerbs]);
const FINDS = new RegExp(
  `^(?:(?:${anyOf(vocabulary.fillers)}),? )*(?:${SEARCH}) (.+?)(?:(?:,|;|\\.)? (?:and(?: then)?|then)|[,;.?]) ` +
    `((?:${ASKS})\\b.*)$`,
  "is",
);
/** What a file is said to be about, after a verb that looks for it. */
const DESCRIBED = new RegExp(
  `\\b(?:${anyOf(vocabulary.documentNouns)}),? (?:(?:that|which|where) )?(?:(?:is|are|it) )?(?:${anyOf(vocabulary.aboutWords)}) (.+?)` +
    `(?= (?:${ENDS})\\b|[,;.?!](?: |$)|$)`,
  "i",
);
/** The same in a question that does not say "find": fewer words, since a question about the world must not look into files. */
const MEANT = new RegExp(
  `\\b(?:${anyOf(vocabulary.meantBy)}) (?:\\w+ )?(?:${anyOf(vocabulary.describedNouns)}) (?:(?:that|which) )?(?:is )?` +
    `(?:${anyOf(vocabulary.describedBy)}) (.+?)(?= (?:${ENDS})\\b|[,;.?!](?: |$)|$)`,
  "i",
);
const A_KIND = new RegExp(`\\b(?:${anyOf(vocabulary.documentNouns)})\\b`, "i");
const DAYS: ReadonlySet<string> = new Set(vocabulary.weekdays);
const ONE = new RegExp(`\\bthe one (?:${anyOf(vocabulary.oneLinks)}) (?:the |my |our )?(\\w+)`, "i");
const TOLD = new RegExp(`(?:,|;|\\.|\\band|\\bthen) ((?:${anyOf(vocabulary.askingWords)}|say)\\b.*)$`, "is");
const TELL = /^(?:tell|say)(?: me| us)? /i;
const WHICH: ReadonlySet<string> = new Set(["which", "what"]);
const HELPERS: ReadonlySet<string> = new Set(vocabulary.helpers);
const OBJECT = new RegExp(`^(?:(?:${anyOf(vocabulary.articles)}) )*`, "i");
/** A paper that is to be seen, by a word that its name may have: "open order 1042", "read me the letter from the insurance". */
const OPENED = new RegExp(
  `^(?:(?:${anyOf(vocabulary.fillers)}),? )*(?:let (?:me|us) )?(?:${anyOf([...vocabulary.openingVerbs, ...vocabulary.viewingVerbs])})` +
    `(?: me| us)? (?:(?:${anyOf(vocabulary.describedLeads)}) )?(?:\\w+ )?(?:${anyOf([...vocabulary.documentNouns, ...vocabulary.namedPapers])})` +
    `(?: (?:(?:that|which) )?(?:(?:is|are) )?(?:${anyOf([...vocabulary.aboutWords, "for", "of"])})(?: the| my| our)?` +
    "| number| no)? ([^ ,;?!]*[^ ,;?!.])[.!]?$",
  "i",
);
const OPENS_THING = new RegExp(
  `^(?:(?:${anyOf(vocabulary.fillers)}),? )*(?:let (?:me|us) )?` +
    `(?:${anyOf([...vocabulary.openingVerbs, ...vocabulary.viewingVerbs])})(?: me| us)? (.+?)[.!]?$`,
  "i",
);
/** A file that is to be seen, by the words of its name before that for what it is: "show the todo list", "and the lasagne one". */
const CALLED = new RegExp(
  `^(?:(?:${anyOf(vocabulary.fillers)}),? )*(?:(?<further>${anyOf(vocabulary.further)}),? )?` +
    `(?<opens>(?:let (?:me|us) )?(?:${anyOf([...vocabulary.openingVerbs, ...vocabulary.viewingVerbs])})(?: me| us)? )?` +
    `(?:${anyOf(vocabulary.describedLeads)}) (?<name>(?:[a-z][a-z-]* ){1,3})` +
    `(?<noun>${anyOf([...vocabulary.documentNouns, ...vocabulary.namedPapers, ...vocabulary.datedPapers, "one"])})[.!?]?$`,
  "i",
);
/** Words for one paper that end as those for several do. */
const MANY_OF_ONE: ReadonlySet<string> = new Set(["notes", "minutes"]);
const NAMED: ReadonlySet<string> = new Set([
  ...vocabulary.documentNouns,
  ...vocabulary.namedPapers,
  ...vocabulary.datedPapers,
  "draft",
]);
/** What is asked of a paper that is only to be seen. */
const SHOWN = "show it";
/** How a name ends that something belongs to. Its owner may stand elsewhere without it. */
const TOLD_KINDS = anyOf([
  ...Object.keys(vocabulary.kindFolders),
  ...[...vocabulary.documentNouns, ...vocabulary.namedPapers, "log"],
]);
/** One of several papers by what it says, and what is asked of it: "which invoice is unpaid, and how much is it?". */
const TOLD_APART = new RegExp(
  `\\b(?:which|what) (?:${TOLD_KINDS}) (?:(?:that|which) )?(?:${anyOf(vocabulary.tellingLinks)}) ` +
    `(?<not>not )?(?:(?:${anyOf([...vocabulary.pluralArticles, "a", "an"])}) )*` +
    "(?<told>[^,;.?!]+?)(?: yet| in it)?(?:(?:,|;|\\?|\\.)(?: and)?|,? and(?: then)?) (?<asked>.+)$",
  "i",
);
const NEGATIVE = new Map(Object.entries(vocabulary.negatedWords).map(([negative, word]) => [word, negative]));
const PICKING: ReadonlySet<string> = new Set(Object.values(vocabulary.picks).flat());
/** Words that tell a file by how it stands among others, or that no name of one has: "print this out on paper". */
const UNNAMED: ReadonlySet<string> = new Set([
  ...PICKING,
  ...vocabulary.superlatives,
  ...vocabulary.untoldAdjectives,
  ...vocabulary.linkWords,
  ...vocabulary.phraseEnds,
]);
const OWNED = /['’]s$/;
const FOLDER = new RegExp(
  `\\b(?:${anyOf(vocabulary.insideWords)}) (?:(?:the|my|our) )?` +
    "(?:([^ ,;?!]*/)(?=[ ,;.?!]|$)|([A-Za-z0-9_-]+) (?:folder|directory)\\b)",
  "i",
);
const PLAIN: ReadonlySet<string> = new Set([
  ...vocabulary.lightWords,
  ...vocabulary.commonTerms,
  ...vocabulary.contentVerbs,
  ...vocabulary.articles,
]);
/** Words that ask, and that no file has for that: "tells", "wants", "look". */
const WEAK: ReadonlySet<string> = new Set(
  [
    ...vocabulary.searchVerbs,
    ...vocabulary.askingWords,
    ...vocabulary.contentVerbs,
    ...vocabulary.lookingVerbs,
    ...vocabulary.cues,
    ...vocabulary.noFolders,
  ].map(stem),
);
const OF_FILES: ReadonlySet<string> = new Set([...vocabulary.folderNouns, ...vocabulary.documentNouns]);
/** Letters that stand in too many names. */
const SHORT = 2;
/** Words that are looked for. More are a description, which stands in no file as it is. */
const MOST_WORDS = 4;
/** Words of a description that is looked for by one of them. */
const MOST_DESCRIBED = 12;

/**
 * What a wish looks for and asks: one to find a text and be told of it, or a question about the person's own affairs. Null for any
 * other wish, and where it names a file.
 */
export function findingIn(wish: string): SoughtText | null {
  const names = wordsOf(wish).map(({ start, end }) => bareThing(wish.slice(start, end)));
  if (names.some((name) => isThing(name) && !name.endsWith("/"))) return null;
  const code = codeAsked(wish);
  if (code !== null) {
    const { name, bare = false } = code;
    // A name of few letters stands in many words, and where it is defined mostly before a bracket.
    const [query, others] = bare ? [`${name}(`, [name]] : [name, []];
    return { query, folder: folderIn(wish), asked: wish, others, own: false, code: true, defined: bare };
  }
  if (askedActs(wish).some(({ act }) => act !== "read")) return null;
  const told = datedIn(wish) ?? placedIn(wish) ?? openedIn(wish) ?? calledIn(wish) ?? toldIn(wish);
  return told ?? describedIn(wish) ?? ownIn(wish) ?? oneAmong(wish) ?? inFolder(wish);
}

/** A paper that a wish tells by its day: by names in figures first, then by its words. */
export function datedIn(wish: string): SoughtText | null {
  const paper = datedPaper(wish);
  if (paper === null) return null;
  const [query, ...others] = paper.queries;
  return { query, folder: folderIn(wish), asked: paper.isShown ? SHOWN : wish, others, own: false };
}

/** A paper that is to be seen, by its name and its folder. */
function placedIn(wish: string): SoughtText | null {
  const placed = placedPaper(OPENS_THING.exec(wish.trim())?.[1] ?? "");
  const words = wordsOf(placed?.name ?? "").map(({ bare }) => bare);
  if (placed === null || !NAMED.has(words.at(-1) as string)) return null;
  const [query, ...others] = words.slice(1).filter((word) => !NAMED.has(word) && word.length > SHORT);
  if (query === undefined) return null;
  return { query: `*${query}*`, folder: placed.folder, asked: wish, others: [query, ...others], own: false };
}

/** The name is looked for first: many papers mention an insurance, and one is called so. */
function openedIn(wish: string): SoughtText | null {
  const word = OPENED.exec(wish.trim())?.[1] ?? "";
  if (word.length <= SHORT || OF_FILES.has(word.toLowerCase())) return null;
  // "05-03" is a day of March or of May; names have the month first.
  const day = /^([0-3][0-9])-([01][0-9])$/.exec(word);
  const others = day === null ? [word] : [`*${day[2]}-${day[1]}*`, word];
  return { query: `*${word}*`, folder: folderIn(wish), asked: wish, others, own: false };
}

/** A file that is to be seen, by what it is called: the names are looked for, together and each, and then the words. */
function calledIn(wish: string): SoughtText | null {
  const found = CALLED.exec(wish.trim())?.groups;
  if (found === undefined) return null;
  const [noun, words] = [
    (found["noun"] as string).toLowerCase(),
    (found["name"] as string).toLowerCase().trim().split(" "),
  ];
  const isShown = found["opens"] !== undefined || (found["further"] !== undefined && noun === "one");
  if (!isShown || words.some((word) => UNNAMED.has(word))) return null;
  const named = words.filter((word) => !NAMED.has(word) && word.length > SHORT);
  if (named.length === 0 || (noun.endsWith("s") && !MANY_OF_ONE.has(noun))) return null;
  // "To-do" is mostly written without its hyphen in a name.
  const patterns = [`*${named.join("*")}*`, ...named.map((word) => `*${word.replaceAll("-", "")}*`)];
  const [query, ...others] = [...new Set([...patterns, ...named])] as [string, ...string[]];
  return { query, folder: "", asked: SHOWN, others, own: false, one: true };
}

/** What one of several papers says that a wish tells by that, and asks something of. */
export function toldIn(wish: string): SoughtText | null {
  const found = TOLD_APART.exec(wish.trim())?.groups ?? {};
  const said = queryOf(found["told"] ?? "");
  if (said === "" || !asksAboutContent(found["asked"] as string)) return null;
  if (askedActs(wish).some(({ act }) => act !== "read") || wordsOf(wish).some(({ bare }) => PICKING.has(bare)))
    return null;
  const query = found["not"] === undefined ? said : (NEGATIVE.get(said.toLowerCase()) ?? "");
  return query === ""
    ? null
    : { query, folder: folderIn(wish), asked: wish, others: shorterQueries(query), own: false };
}

/** One file of a list by what it is for: "list the bills and tell me how much the one for water is". */
function oneAmong(wish: string): SoughtText | null {
  const named = ONE.exec(wish)?.[1];
  if (named === undefined || !asksAboutContent(wish)) return null;
  return { query: `*${named}*`, folder: folderIn(wish), asked: wish, others: [named], own: false };
}

/** What is asked of the files of a folder: "go through money/ and tell me what the tram pass cost". */
function inFolder(wish: string): SoughtText | null {
  const asked = TOLD.exec(wish.trim())?.[1];
  const names = wordsOf(wish).map(({ start, end }) => bareThing(wish.slice(start, end)));
  const [folder, ...more] = names.filter((name) => isThing(name)).map((name) => name.replace(/\/+$/, ""));
  if (asked === undefined || folder === undefined || more.length > 0 || asked.includes("/")) return null;
  const own = ownQueries(asked.replace(TELL, ""));
  const [query, ...others] = own.length > 0 ? own : shorterQueries(asked);
  return query === undefined ? null : { query, folder, asked, others, own: false };
}

function ownIn(wish: string): SoughtText | null {
  const open = openQueries(wish);
  const own = [open, ownQueries(wish)].find(({ length }) => length > 0) ?? planQueries(wish);
  // A month stands in words in few lists of what was paid, and in many other files.
  const queries = spends(wish) && own.slice(0, 1).some(isMonth) ? [...vocabulary.spendingFiles, ...own] : own;
  const [query, ...others] = queries;
  const asked = open.length > 0 || queries.join() === TASKS.join() ? OPEN : wish;
  return query === undefined ? null : { query, folder: folderIn(wish), asked, others, own: true };
}

function describedIn(wish: string): SoughtText | null {
  const halves = FINDS.exec(wish.trim());
  const [clause, asked] = [halves?.[1] ?? wish, halves?.[2] ?? wish];
  // A second thing to do in the other half would be lost.
  if (askedActs(asked).some(({ at, things }) => things.length > 0 || at > 0)) return null;
  if (halves === null && !asksOfFile(wish)) return null;
  const described = (halves === null ? MEANT : DESCRIBED).exec(clause)?.[1];
  if (halves === null && described === undefined) return null;
  const whole = queryOf(described ?? clause);
  const [query, ...others] = whole === "" && halves !== null ? wordsOfKind(clause) : [whole, ...shorterQueries(whole)];
  return query ? { query, folder: folderIn(clause), asked, others, own: false } : null;
}

/**
 * What to look for of a file whose description stands nowhere as it is: "the letter where Ana wants something". A day, which many
 * files have, comes last.
 */
function wordsOfKind(clause: string): string[] {
  const isShort = wordsOf(clause).length <= MOST_DESCRIBED;
  const words = isShort && A_KIND.test(clause) ? shorterQueries(clause) : [];
  return words.toSorted((one, other) => Number(DAYS.has(one)) - Number(DAYS.has(other)));
}

/** What to look for where a question may be about the person's own affairs and as well about the world; else null. */
export function doubted(wish: string): SoughtText | null {
  const doubtful = doubtfulQuery(wish) || recordQuery(wish);
  const query = doubtful || apartQuery(wish);
  if (query === "") return null;
  // A file of somebody's may have the name, and not say it.
  const others = query === namedThing(wish) ? [`*${query}*`] : [];
  // A setting is written in one word: "darkMode".
  if (others.length > 0 && query.includes(" ")) others.unshift(query.replaceAll(" ", ""));
  return { query, folder: folderIn(wish), asked: wish, others, own: true, apart: doubtful === "" };
}

/**
 * What a wish asks of the files that a search for this found, where somebody else chose what to search for; null for a wish that the
 * places answer.
 */
export function sought(wish: string, query: string): SoughtText | null {
  if (wordsOf(wish).some(({ start, end }) => isThing(wish.slice(start, end)))) return null;
  if (askedActs(wish).some(({ act }) => act !== "read")) return null;
  if (!asksOfFile(wish)) return null;
  return { query, folder: folderIn(wish), asked: wish, others: shorterQueries(query), own: false };
}

/** Whether a question asks for more than which file it is, or where. */
function asksOfFile(wish: string): boolean {
  const words = wordsOf(wish).map(({ bare }) => bare);
  const first = words.findIndex((word) => ASKING.has(word));
  const count = words.filter((word) => ASKING.has(word)).length;
  const at = Math.max(0, first);
  if (!asksAboutContent(wish) || words[at] === "where") return false;
  const namesFile =
    first >= 0 && WHICH.has(words[at] as string) && words.slice(at + 1, at + 4).some((word) => NOUNS.has(word));
  return !(namesFile && count === 1 && !HELPERS.has(words[at + 1] as string));
}

/** The folder that a wish is confined to, without the slash at its end; empty where it names none. */
export function folderIn(wish: string): string {
  const found = FOLDER.exec(wish);
  return (found?.[1] ?? found?.[2] ?? "").replace(/\/+$/, "");
}

/** What to look for when nothing holds all of it: each word of several by itself, names first, then the longest. */
export function shorterQueries(query: string): string[] {
  const words = wordsOf(query);
  const isName = ({ start }: Word) => /^\p{Lu}/u.test(query.slice(start));
  const owned = words.map((word) => ({ ...word, bare: word.bare.replace(OWNED, "") }));
  const telling = owned.filter(({ bare }) => stem(bare).length > 2 && !PLAIN.has(bare) && !WEAK.has(stem(bare)));
  const ranked = telling.toSorted(
    (one, other) => Number(isName(other)) - Number(isName(one)) || other.bare.length - one.bare.length,
  );
  return words.length > 1 ? ranked.map(({ bare }) => bare) : [];
}

/** What a file is said to be about: "the letter that mentions Ana"; empty where none is described. */
export function describedText(text: string): string {
  const described = DESCRIBED.exec(text)?.[1];
  return described === undefined ? "" : queryOf(described);
}

/** What is looked for: quoted words as they stand, else few words without an article before them. */
export function queryOf(text: string): string {
  const [quoted] = text.match(QUOTED) ?? [];
  if (quoted !== undefined) return quoted.slice(1, -1);
  const bare = text.replaceAll(new RegExp(FOLDER, "gi"), "").trim().replace(OBJECT, "").trim();
  const words = wordsOf(bare);
  const [first, last] = [words[0], words.at(-1)];
  if (first === undefined || last === undefined || words.length > MOST_WORDS) return "";
  if (words.some((word) => ASKING.has(word.bare))) return "";
  return bareThing(bare.slice(first.start, last.end));
}
