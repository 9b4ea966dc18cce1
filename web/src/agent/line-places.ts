import { bareThing, isThing } from "./acts.ts";
import { copy } from "./copy.ts";
import { cited, excerptOf } from "./excerpts.ts";
import type { ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { linesOf } from "./passages.ts";
import { isFile } from "./reading.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * Lines of a file that a wish tells by their place: "the first three lines of a.log", "the last line of it", "line 4 of a.txt".
 * They are counted off by code. A small model that is shown the file gives some other line.
 */

/** Which lines of which file: the `first` and the `last` of them, counted from 1, or from the end where they are negative. */
interface LinesAsked {
  readonly file: string;
  readonly first: number;
  readonly last: number;
}

const PLACES = new Map(Object.entries(vocabulary.linePlaces));
const NUMBERS = new Map(Object.entries(vocabulary.numberWords));
const LINES = anyOf(vocabulary.countedNouns.line);
const LEAD = `(?:(?:${anyOf([...vocabulary.fillers, ...wishWords.fillers, ...wishWords.openers])})[ ,]+)*`;
const SHOWS = anyOf([...vocabulary.openingVerbs, ...vocabulary.viewingVerbs, ...vocabulary.lineLeads]);
const KEPT = anyOf(vocabulary.keptLeads);
const TAIL = `(?: (?:${anyOf(vocabulary.contentVerbs)}))?[.!?]*(?:,? (?:${anyOf(wishWords.tails)}))*[.!?]*`;
const ASKED = new RegExp(
  `^${LEAD}(?:(?:${SHOWS}) (?:(?:${anyOf(wishWords.sharing)}) )?)*(?:(?:${KEPT}) )?` +
    `(?:(?<place>${anyOf([...PLACES.keys()])})(?: (?<count>[1-9][0-9]{0,2}|${anyOf([...NUMBERS.keys()])}))? (?:${LINES})` +
    `|(?:${LINES}) (?<from>[1-9][0-9]{0,6})(?: ?(?:${anyOf(vocabulary.lineJoints)}) ?(?<to>[1-9][0-9]{0,6}))?` +
    `|(?<nth>[1-9][0-9]{0,6})(?:st|nd|rd|th) line)` +
    ` (?:${anyOf(vocabulary.folderLinks)}|of) (?:(?:${KEPT}) )?(?:file )?(?<file>[^ \\n]+)${TAIL}$`,
  "i",
);

/** The lines that a wish asks to see by their place in one file; null for any other wish. */
export function linesAsked(wish: string): LinesAsked | null {
  const said = ASKED.exec(wish.trim())?.groups;
  const file = bareThing((said?.file ?? "").replace(/[?!,;:]+$/, ""));
  if (said === undefined || !isThing(file) || !isFile(file)) return null;
  const place = PLACES.get(said.place?.toLowerCase() ?? "");
  if (place === undefined) {
    const numbers = [said.from, said.to, said.nth].flatMap((each) => (each === undefined ? [] : [Number(each)]));
    return { file, first: Math.min(...numbers), last: Math.max(...numbers) };
  }
  const count = countIn(said.count ?? "one");
  if (place < 0) return { file, first: -count, last: -1 };
  // "The second two lines" could be two places.
  return place === 1 || count === 1 ? { file, first: place, last: place + count - 1 } : null;
}

/** The lines that a wish tells by their place, with that place; null where it tells none, or where the text ends too early. */
export function answerLines(wish: string, { name, text, whole, hasLines }: ResultSource): string | null {
  const asked = hasLines ? linesAsked(wish) : null;
  if (asked === null) return null;
  const lines = linesOf(text);
  const count = lines.length;
  const isAhead = asked.first > 0 && asked.last < count;
  if (!whole && !isAhead) return null;
  const first = asked.first > 0 ? asked.first : Math.max(1, count + 1 + asked.first);
  const last = asked.last > 0 ? Math.min(asked.last, count) : count;
  const places = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  if (places.length === 0) return `${counted(count)} ${cited(name)}`;
  const excerpt = excerptOf(lines.slice(first - 1, last).join("\n"));
  const rest = excerpt.leftOut === 0 ? "" : `\n${fill(copy.leftOut, () => `${excerpt.leftOut}`)}`;
  return `${counted(places.length)} ${cited(name, places)}:\n\n${excerpt.text}${rest}`;
}

function counted(count: number): string {
  const noun = count === 1 ? copy.lineOne : copy.lineMany;
  return fill(copy.counted, (name) => (name === "count" ? `${count}` : noun));
}

function countIn(word: string): number {
  return NUMBERS.get(word.toLowerCase()) ?? Number(word);
}
