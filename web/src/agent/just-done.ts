import { LEAD } from "./assigned.ts";
import { listerAmong } from "./further.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { slotOf } from "./names.ts";
import { PICK_OF, pickedOf } from "./picking.ts";
import { readerAmong } from "./reading.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * A wish for what another one of the same message has just brought about: "list mail then open the oldest", "add tea to a.txt and
 * show me the list". It names no file, so a small model says that nothing was asked for.
 */

const SHOWS =
  `${LEAD}(?:${anyOf([...vocabulary.openingVerbs, ...vocabulary.viewingVerbs])})(?: (?:${anyOf(wishWords.sharing)}))? ` +
  `(?:(?:${anyOf(vocabulary.pluralArticles)}) )?`;
const END = `(?: (?:${anyOf([...wishWords.tails, ...wishWords.adverbs])}))*[.!?]*$`;
const PICKED = new RegExp(
  `${SHOWS}(${anyOf([...PICK_OF.keys()])})(?: (?:${anyOf(vocabulary.shownPicks)}))?${END}`,
  "i",
);
const CHANGED = new RegExp(
  `${SHOWS}(?:(?:${anyOf(vocabulary.passingWords)}) )?` +
    `(?:${anyOf([...vocabulary.listNouns, ...vocabulary.shownLists])})(?: to me)?${END}`,
  "i",
);

/** The call that reads the file which is meant among those that were just listed, or that was just changed; null for others. */
export function readingOfDone(
  wish: string,
  closed: readonly ToolMessage[],
  tools: Parameters<typeof listerAmong>[0],
): ProposedCall | null {
  const [reader, lister] = [readerAmong(tools), listerAmong(tools)];
  const last = closed.findLast(({ result }) => result.outcome === "ok");
  if (reader === null || last === undefined) return null;
  const read = (path: string): ProposedCall => ({ name: reader.name, arguments: { [reader.path]: path } });
  const picked = PICKED.exec(wish.trim())?.[1]?.toLowerCase();
  if (picked !== undefined) {
    const pick = PICK_OF.get(picked);
    const file = last.call.name === lister?.name && pick !== undefined ? pickedOf(pick, wish, last) : null;
    return file === null ? null : read(file);
  }
  const isChange = tools.some(({ name, category }) => name === last.call.name && category === "write");
  const paths = Object.entries(last.call.arguments).flatMap(([name, value]) =>
    slotOf(name) === "path" ? [value] : [],
  );
  const [path, ...more] = paths as string[];
  return path !== undefined && more.length === 0 && isChange && CHANGED.test(wish.trim()) ? read(path) : null;
}
