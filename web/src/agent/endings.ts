import type { ToolDescriptor } from "../protocol/generated.ts";
import { copy } from "./copy.ts";
import { excerptOf } from "./excerpts.ts";
import { fill } from "./fill.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { linesOf } from "./passages.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * Which files have an ending, where a wish asks for just that: "how many pdf files are there?", "are there any jpgs in photos/?". A
 * small model takes the ending for a folder, and cannot count. The search for names tells all of them, and that there is none.
 */

/** The ending of files that are asked for, and the folder, empty for all. */
export interface SoughtEnding {
  readonly ending: string;
  readonly folder: string;
}

const FILES = anyOf([
  ...(vocabulary.countedNouns.file as readonly string[]),
  ...vocabulary.documentNouns,
  "photos",
  "pictures",
  "images",
]);
/** A log is told by its ending too, and "log" is as well a word that names have. */
const ENDINGS = anyOf([...vocabulary.fileEndings, "log"]);
const HAVING = `(?: (?:${anyOf(vocabulary.endingTails)}))*`;
const ASKED = new RegExp(
  `^(?:(?:${anyOf(vocabulary.fillers)}),? )*(?:${anyOf(vocabulary.endingAsks)})` +
    `(?: (?:${anyOf(vocabulary.pluralArticles)}))? ` +
    `(?:(?:${FILES}) (?:${anyOf(vocabulary.endingLinks)}) )?(?:\\*?\\.)?(${ENDINGS})s?(?: (?:${FILES}))?` +
    `${HAVING}(?: (?:${anyOf(vocabulary.insideWords)}) (?:(?:${anyOf(vocabulary.pluralArticles)}) )?([^ ?!,;]+?)/?` +
    `(?: (?:folder|directory))?)?${HAVING}[.?!]*$`,
  "i",
);
const EVERYWHERE: ReadonlySet<string> = new Set(vocabulary.everywhere);
/** How the last line begins where a search did not see all. */
const STOPPED = "…[";

/** The ending that a wish asks for; null for any other wish. */
export function endingIn(wish: string): SoughtEnding | null {
  const [, ending, folder = ""] = ASKED.exec(wish.trim()) ?? [];
  if (ending === undefined) return null;
  return { ending: ending.toLowerCase(), folder: EVERYWHERE.has(folder.toLowerCase()) ? "" : folder };
}

/** The search for the names: that for words, with a pattern in the place of them. */
export function endingCall({ ending }: SoughtEnding, search: ProposedCall): ProposedCall {
  const given = Object.entries(search.arguments).map(([name, value]) => [
    name,
    value === ending ? `*.${ending}` : value,
  ]);
  return { name: search.name, arguments: Object.fromEntries(given) };
}

/** Whether a tool that searches takes a pattern of names. */
export function findsNames(name: string, tools: readonly Pick<ToolDescriptor, "name" | "description">[]): boolean {
  return tools.some((tool) => tool.name === name && tool.description.includes("*"));
}

/** How many files have the ending, and which; null where that is not asked, or not all were seen. */
export function answerEnding(wish: string, { call, result }: ToolMessage): string | null {
  const sought = endingIn(wish);
  if (sought === null || !Object.values(call.arguments).includes(`*.${sought.ending}`)) return null;
  const lines = linesOf(result.content);
  if (lines.some((line) => line.startsWith(STOPPED))) return null;
  const named = lines.filter((line) => line.toLowerCase().endsWith(`.${sought.ending}`));
  if (named.length === 0) return fill(copy.endedNone, () => sought.ending);
  const sentence = named.length === 1 ? copy.endedOne : copy.ended;
  const said = fill(sentence, (blank) => (blank === "count" ? String(named.length) : sought.ending));
  return `${said}\n\n${excerptOf(named.join("\n")).text}`;
}
