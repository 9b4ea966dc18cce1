import { folderIn, queryOf, type SoughtText, shorterQueries } from "./finding.ts";
import type { ToolMessage } from "./messages.ts";
import { slotOf } from "./names.ts";
import { linesOf } from "./passages.ts";
import { KINDS } from "./picking.ts";
import { matchOf } from "./tables.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * One of several papers that is told by what it says, or by what it shows: "which invoice is unpaid", "the photo of a cat"; and a
 * table that is told by what it is about: "which client has the highest rate", "add up the hours".
 *
 * The word for the kind stands in the name of all of them, so that it tells nothing: what is looked for is what the words say of
 * the one, and what was found counts only where it is of that kind.
 */

const ARTICLES = `(?:(?:${anyOf([...vocabulary.pluralArticles, "a", "an"])}) )*`;
const LINKS = anyOf(vocabulary.tellingLinks);
const TOLD = new RegExp(
  `\\b(?:which|what) (${anyOf([...KINDS])}) (?:(?:that|which) )?(?:${LINKS}) ${ARTICLES}(.+)$`,
  "i",
);
const PICTURES = anyOf(vocabulary.pictureKinds);
const PICTURED = new RegExp(`\\b((?:${PICTURES})s?) (?:of|with|showing) ${ARTICLES}(\\w+)`, "i");
const MOST = anyOf(vocabulary.superlatives);
const RANKED = new RegExp(`\\b(?:which|what) (\\w+) (?:${anyOf(vocabulary.rankingVerbs)}) the (?:${MOST})\\b`, "i");
const SUMMED = new RegExp(`\\b(?:${anyOf(vocabulary.summingVerbs)}) ${ARTICLES}(\\w+)`, "i");
/** Letters of a word that stands in too many names. */
const SHORT = 3;

const KIND_FOLDERS: Readonly<Record<string, readonly string[]>> = vocabulary.kindFolders;

/** The kind of the one paper that words tell from others of its kind, in the singular; empty where they tell none. */
function kindTold(source: string): string {
  const [, kind = ""] = TOLD.exec(source) ?? PICTURED.exec(source) ?? [];
  return kind.toLowerCase().replace(/s$/, "");
}

/** What to look for to find the one that is told so, or the table; null for any other words. */
export function toldApart(source: string, asked: string): SoughtText | null {
  const found = { folder: folderIn(source), asked, own: false };
  const told = TOLD.exec(source);
  if (told !== null) {
    const query = queryOf(told.slice(2).join(""));
    return query === "" ? null : { ...found, query, others: shorterQueries(query) };
  }
  const [, , shown] = PICTURED.exec(source) ?? [];
  if (shown !== undefined) return { ...found, query: `*${shown.toLowerCase()}*`, others: [] };
  const [, about = ""] = RANKED.exec(source) ?? SUMMED.exec(source) ?? [];
  const noun = about.toLowerCase();
  if (noun.length < SHORT || vocabulary.figureNouns.includes(noun)) return null;
  return { ...found, query: `*${noun.replace(/s$/, "")}*`, others: [noun] };
}

/**
 * Of the files that a search found those of the kind that words tell, where what is looked for stands as a word of its own; all of
 * them where they tell no kind.
 */
export function ofKind(files: readonly string[], source: string, search: ToolMessage): readonly string[] {
  const kind = kindTold(source);
  if (kind === "") return files;
  const query = String(Object.entries(search.call.arguments).find(([name]) => slotOf(name) === "query")?.[1]);
  const isByName = query.includes("*");
  const whole = new RegExp(`(?<![\\p{L}\\p{N}])(?:${anyOf([query])})(?![\\p{L}\\p{N}])`, "iu");
  const matches = linesOf(search.result.content).flatMap((line) => matchOf(line) ?? []);
  const said = new Set(matches.filter(({ text }) => whole.test(text)).map(({ path }) => path));
  return files.filter((file) => (isByName || said.has(file)) && isOf(kind, file.toLowerCase()));
}

/** Whether a file is of a kind: a picture by its ending, anything else by its name or its folder's. */
function isOf(kind: string, path: string): boolean {
  if (vocabulary.pictureKinds.includes(kind)) return vocabulary.pictureEndings.some((ending) => path.endsWith(ending));
  const folders = new Set(KIND_FOLDERS[kind]);
  return path.split("/").some((part) => part.includes(kind) || folders.has(part));
}
