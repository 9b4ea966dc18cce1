import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * Two folders in one wish, by names that are plain words: "list notes and archive", "what's in photos and old?". Such a name may be a
 * verb as well, so that no rule for clauses takes them apart, and a small model lists one of them.
 */

const NAME = "((?:(?:the|my|our) )?[a-z][a-z0-9_-]*(?: (?:folder|directory))?)";
const INSIDE = `what(?:['’]s| is| are) (?:${anyOf(vocabulary.insideWords)})`;
const LISTED = new RegExp(
  `^(?:(?:${anyOf(vocabulary.fillers)}),? )*(list|(?:show(?: me| us)? )?${INSIDE}) ${NAME}(?:, ${NAME})?,? and ${NAME}([?.! ]*)$`,
  "i",
);
/** Words that name no folder: "list all and everything". */
const NO_NAMES: ReadonlySet<string> = new Set([...vocabulary.noFolders, ...vocabulary.plainListingWords]);

/** The wishes of a message that asks for what these folders hold, one for each; none for any other message. */
export function foldersAsked(message: string): string[] {
  const [, lead, first, second, third, end] = LISTED.exec(message.trim()) ?? [];
  const names = [first, second, third].flatMap((each) => each ?? []);
  const isNamed = names.every((each) => !NO_NAMES.has(each.toLowerCase()));
  return isNamed ? names.map((each) => `${lead} ${each}${end}`) : [];
}
