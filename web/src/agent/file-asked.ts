import { askedActs, bareThing, isThing } from "./acts.ts";
import type { ProposedCall } from "./lane.ts";
import { linesAsked } from "./line-places.ts";
import { isFile, type ReadingTool, readerAmong } from "./reading.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { wordsOf } from "./words.ts";

/*
 * A message that has one file read, and then asks for something out of it: "open a.log and tell me how many calls failed". It is
 * one piece of work. Asked to take it apart, a small model makes two wishes of it, of which the second names no file.
 */

/** The file that is read, and what is asked of it. */
interface FileAsked {
  readonly file: string;
  readonly asked: string;
}

const LEAD = `(?:(?:${anyOf([...vocabulary.fillers, ...wishWords.fillers, ...wishWords.openers])})[ ,]+)*`;
const OPENS = anyOf([...vocabulary.openingVerbs, ...vocabulary.viewingVerbs, ...vocabulary.lookingPhrases]);
const JOINTS = anyOf([...wishWords.joiners, ...wishWords.sequels]);
const READ_FIRST = new RegExp(
  `^${LEAD}(?:${OPENS}) (?:(?:${anyOf(wishWords.sharing)}) )?(?:the )?(?:file )?(?<file>[^ \\n]+)` +
    `(?: (?=${JOINTS})|(?<=[,;.])[ \\n])(?:(?:${JOINTS}),? )*${LEAD}(?<asked>.+)$`,
  "is",
);
const ASKING: ReadonlySet<string> = new Set([...wishWords.telling, ...wishWords.asking, ...vocabulary.explainingVerbs]);
const VERBS: ReadonlySet<string> = new Set(wishWords.imperatives);
const JOINED: ReadonlySet<string> = new Set([...wishWords.joiners, "then"]);
const KEEPING: ReadonlySet<string> = new Set([...vocabulary.keepingVerbs, ...vocabulary.placingVerbs]);

/** The file that a message has read, and what it asks of it; null where it asks for anything else. */
export function fileAsked(message: string): FileAsked | null {
  const { file: named = "", asked = "" } = READ_FIRST.exec(message.trim())?.groups ?? {};
  const file = bareThing(named.replace(/[,;:]+$/, ""));
  if (!isThing(file) || !isFile(file)) return null;
  const words = wordsOf(asked);
  const bare = words.map((word) => word.bare);
  // A further file, or a further wish, would be lost.
  const namesMore = words.some(({ start, end }) => isThing(asked.slice(start, end)));
  const isFurther = namesMore || bare.slice(1).some((word, at) => VERBS.has(word) && JOINED.has(bare[at] as string));
  const isRead = askedActs(message).every(({ act }) => act === "read") && !bare.some((word) => KEEPING.has(word));
  return ASKING.has(bare[0] as string) && isRead && !isFurther ? { file, asked } : null;
}

/** The call that reads the file of which a wish asks something more, or some lines by their place; null for any other wish. */
export function callForFile(wish: string, tools: readonly ReadingTool[]): ProposedCall | null {
  const reader = readerAmong(tools);
  const asked = fileAsked(wish) ?? linesAsked(wish);
  return reader === null || asked === null ? null : { name: reader.name, arguments: { [reader.path]: asked.file } };
}
