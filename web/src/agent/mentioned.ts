import { bareThing, isThing } from "./acts.ts";
import { copy } from "./copy.ts";
import { endsEarly } from "./figures.ts";
import { fill } from "./fill.ts";
import type { ToolMessage } from "./messages.ts";
import { linesOf } from "./passages.ts";
import { isPath } from "./reading.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { QUOTED, wordsOf } from "./words.ts";

/* A wish for the files that mention something: "which files mention Jonas?". The search answers it, and no model tells of it. */

const PAPERS = anyOf([...vocabulary.countedNouns.file, ...vocabulary.documentNouns]);
const LEADS = `^(?:(?:${anyOf([...vocabulary.fillers, ...vocabulary.cues])}),? )*`;
const WHICH = `(?:which|what) (?:of (?:the|my|our) )?(${PAPERS})`;
const VERBS = anyOf([...vocabulary.mentioningVerbs, ...vocabulary.vagueMentioning]);
const MENTIONING = new RegExp(`${LEADS}${WHICH} (?:that )?(${VERBS}) (.+?)[.?! ]*$`, "i");
const MENTIONED = new RegExp(
  `${LEADS}in ${WHICH} (${anyOf(vocabulary.classifyingWords)}) (.+?) (?:${anyOf(vocabulary.mentionedWords)})[.?! ]*$`,
  "i",
);
/** Verbs that are nouns as well, and tell of more than words: "what file names are there?", "which files contain pictures?". */
const VAGUE: ReadonlySet<string> = new Set(vocabulary.vagueMentioning);
const KINDS: ReadonlySet<string> = new Set([
  ...vocabulary.documentNouns,
  ...Object.values<readonly string[]>(vocabulary.countedNouns).flat(),
]);
/** What no file has as a word of its own where it is asked for: "which files mention both of them?". */
const UNTOLD: ReadonlySet<string> = new Set([
  ...[vocabulary.articles, vocabulary.unmentionedWords, vocabulary.leadingPrepositions].flat(),
]);
/** A line that a search found, with its file and its number, as tools of many makers write it. */
const HIT = /^([^:]*[^: ]):[0-9]+(?:-[0-9]+)?:(.*)$/;
/** How a sentence begins, and a name with spaces that has no folder: "Nothing in notes.txt". */
const SAYING = /^[^/ ]+ /;
const MOST_WORDS = 4;

/** What the files are to mention; empty for any other wish. */
export function mentionedQuery(wish: string): string {
  const text = wish.trim();
  const [, noun = "", verb = "", said = ""] = MENTIONING.exec(text) ?? MENTIONED.exec(text) ?? [];
  if (said !== "" && said.replace(QUOTED, "") === "") return said.slice(1, -1);
  const words = wordsOf(said);
  if (words.length === 0 || words.length > MOST_WORDS || said.includes(",")) return "";
  if (words.some(({ start, end, bare }) => UNTOLD.has(bare) || isThing(bareThing(said.slice(start, end))))) return "";
  if (!VAGUE.has(verb.toLowerCase())) return said;
  // A verb agrees with its noun: "which files contain milk?", and not "what file names work?".
  const isTold = /^\p{Lu}/u.test(said) || (/s$/i.test(noun) && !/s$/i.test(verb));
  return isTold && !words.some(({ bare }) => KINDS.has(bare)) ? said : "";
}

/**
 * Which files mention it, of all that a search found: a word of theirs begins with it. Null where the search tells it in a form that
 * is not known.
 */
export function toldMentions(query: string, { result }: ToolMessage): string | null {
  const isPart = endsEarly(result.content);
  const lines = isPart ? linesOf(result.content).slice(0, -1) : linesOf(result.content);
  const files = filesWith(query, lines);
  if (files.length === 0 && !isNone(query, lines)) return null;
  const names = files.map((file) => `\`${file}\``).join(", ");
  const sentence = files.length === 0 ? copy.notFound : copy.mentionedIn;
  const said = fill(sentence, (blank) => (blank === "query" ? query : names));
  return isPart ? `${said}\n\n${copy.lookedInPart}` : said;
}

/** The files of these lines that mention it. A search that shows names alone has seen it in them, or in their names. */
function filesWith(query: string, lines: readonly string[]): readonly string[] {
  const word = new RegExp(`(?<![\\p{L}\\p{N}])(?:${anyOf([query])})`, "iu");
  const hits = lines.flatMap((line) => {
    const [, path = "", text] = HIT.exec(line) ?? [];
    return text === undefined ? [] : { path, text };
  });
  if (hits.length > 0) return [...new Set(hits.filter(({ text }) => word.test(text)).map(({ path }) => path))];
  const isInside = (line: string) => line.toLowerCase().includes(query.toLowerCase());
  return lines.filter((line) => isPath(line) && !SAYING.test(line) && (word.test(line) || !isInside(line)));
}

/** Whether these lines are matches of other words, or one sentence that nothing was found. */
function isNone(query: string, lines: readonly string[]): boolean {
  if (lines.some((line) => HIT.test(line))) return true;
  const said = lines.join(" ");
  const isSentence = lines.length <= 1 && !/^[{[]/.test(said) && !said.toLowerCase().includes(query.toLowerCase());
  return isSentence && !said.split(" ").some(isThing);
}
