import { bareThing, isThing } from "./acts.ts";
import { copy } from "./copy.ts";
import { fill } from "./fill.ts";
import type { ToolMessage } from "./messages.ts";
import { linesOf } from "./passages.ts";
import { matchOf } from "./tables.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { escaped } from "./withheld.ts";
import { QUOTED, wordsOf } from "./words.ts";

/* A wish for the files that mention something: "which files mention Jonas?". The search answers it, and no model tells of it. */

const PAPERS = anyOf([...vocabulary.countedNouns.file, ...vocabulary.documentNouns]);
const ASKED = new RegExp(
  `^(?:(?:${anyOf([...vocabulary.fillers, ...vocabulary.cues])}),? )*(?:in )?(?:which|what) (?:of (?:the|my|our) )?(?:${PAPERS}) ` +
    `(?:(?:that )?(?:${anyOf(vocabulary.mentioningVerbs)}) (.+?)|` +
    `(?:${anyOf(vocabulary.classifyingWords)}) (.+?) (?:${anyOf(vocabulary.mentionedWords)}))[.?! ]*$`,
  "i",
);
const MOST_WORDS = 4;

/** What the files are to mention; empty for any other wish. */
export function mentionedQuery(wish: string): string {
  const said = ASKED.exec(wish.trim())?.slice(1).find(Boolean) ?? "";
  if (said !== "" && said.replace(QUOTED, "") === "") return said.slice(1, -1);
  const words = wordsOf(said);
  const [first] = words;
  if (first === undefined || words.length > MOST_WORDS || vocabulary.articles.includes(first.bare)) return "";
  const names = words.some(({ start, end }) => isThing(bareThing(said.slice(start, end))));
  return names || said.includes(",") ? "" : said;
}

/** Which files mention it, of all that a search found: a word of theirs begins with it. */
export function toldMentions(query: string, { result }: ToolMessage): string {
  const word = new RegExp(`(?<![\\p{L}\\p{N}])${escaped(query)}`, "iu");
  const matches = linesOf(result.content).flatMap((line) => matchOf(line) ?? []);
  const files = [...new Set(matches.filter(({ text }) => word.test(text)).map(({ path }) => `\`${path}\``))];
  const sentence = files.length === 0 ? copy.notFound : copy.mentionedIn;
  return fill(sentence, (blank) => (blank === "query" ? query : files.join(", ")));
}
