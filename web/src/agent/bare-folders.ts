import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * Two folders in one wish, by names that are plain words: "list notes and archive", "what's in photos and the old folder?". Such a name
 * may be a verb as well, so that no rule for clauses takes them apart, and a small model lists one of them. What is in gin and tonic is
 * asked of no folder: a question is taken apart only where it says that it is about one.
 */

const NAME = "((?:(?:the|my|our) )?[a-z][a-z0-9_-]*(?: (?:folder|directory))?)";
const INSIDE = `what(?:['’]s| is| are) (?:${anyOf(vocabulary.insideWords)})`;
const LISTED = new RegExp(
  `^(?:(?:${anyOf(vocabulary.fillers)}),? )*(list|(?:show(?: me| us)? )?${INSIDE}) ${NAME}(?:, ${NAME})?,? and ${NAME}([?.! ]*)$`,
  "i",
);
const FOLDER = / (?:folder|directory)$/i;
const LED = /^(?:the|my|our) /i;
const OWNER = /^(?:my|our) /i;
/** Words that name no folder: "list all and everything". */
const NO_NAMES: ReadonlySet<string> = new Set([...vocabulary.noFolders, ...vocabulary.plainListingWords]);

/** The wishes of a message that asks for what these folders hold, one for each; none for any other message. */
export function foldersAsked(message: string): string[] {
  const [, lead = "", first = "", second, third, end] = LISTED.exec(message.trim()) ?? [];
  const names = [first, second, third].flatMap((each) => each || []);
  if (names.some((each) => NO_NAMES.has(each.toLowerCase()))) return [];
  if (lead.includes(" ") && !names.some((each) => FOLDER.test(each))) return [];
  const [owner = ""] = OWNER.exec(first) ?? [];
  return names.map((each) => `${lead} ${LED.test(each) ? "" : owner}${each}${end}`);
}
