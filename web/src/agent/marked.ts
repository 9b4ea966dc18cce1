import { isThing } from "./acts.ts";
import { FILE, LEAD, type LineChange, once, TAIL } from "./assigned.ts";
import { linesOf } from "./passages.ts";
import { termsIn } from "./ranking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * One entry of a list that is to be ticked or taken out, "mark the ferry as done", "remove coffee from it", and its line. Of such a
 * wish a small model deletes the whole list, or says that it is done. Which line is meant only the file can tell; where none or
 * several can be meant, nothing is changed.
 */

/**
 * The words of an entry, whether it is ticked, whether it is taken out, both of which "cross off" can mean, and the list: the words
 * that its name has, or the file itself; both empty for the one that was read last.
 */
export interface Mark {
  readonly entry: string;
  readonly ticks: boolean;
  readonly strikes: boolean;
  readonly listed: string;
  readonly file: string;
}

const LISTS = anyOf(vocabulary.entryLists);
const SHOWN = `(?:${anyOf(vocabulary.shownLists)}|(?:the|this|that) (?:${LISTS}))`;
const LIST = `(?:the|my|our) (?<listed>(?:[a-z][a-z-]* )??(?:${LISTS}))`;
const PLACE = `(?:${SHOWN}|${LIST}|${FILE})`;
const OFF = `(?:${anyOf(vocabulary.entryPlaces)})`;
const STATES = `(?:as )?(?:${anyOf(vocabulary.tickedStates)})`;
const ENTRY = "(?:(?:the|my|our) )?(?<entry>.+?)";
const TICKS = `${LEAD}(?:${anyOf(vocabulary.tickingVerbs)})`;
const STRIKES = `${LEAD}(?:${anyOf(vocabulary.strikingVerbs)})`;
/** How it is said, whether that ticks and whether it takes out. */
const PATTERNS = [
  [`${TICKS}(?: off)? ${ENTRY}(?: ${OFF} ${PLACE})? ${STATES}${TAIL}`, true, false],
  [`${TICKS} ${ENTRY} ${STATES} ${OFF} ${PLACE}${TAIL}`, true, false],
  [`${LEAD}(?:tick|check|cross) off ${ENTRY}(?: ${OFF} ${PLACE})?${TAIL}`, true, true],
  [`${LEAD}(?:tick|check|cross) ${ENTRY} off(?: ${PLACE})?${TAIL}`, true, true],
  [`${STRIKES} ${ENTRY} (?:from|off|out of) ${PLACE}${TAIL}`, false, true],
].map(([form, ticks, strikes]) => ({
  form: new RegExp(form as string, "i"),
  ticks: ticks === true,
  strikes: strikes === true,
}));
/** Words by which an entry is told otherwise than by what it says, and such as part several. */
const NO_ENTRY: ReadonlySet<string> = new Set([
  ...vocabulary.leaningWords,
  ...vocabulary.wholeNouns,
  ...vocabulary.unpickedNouns,
  ...Object.keys(vocabulary.numberWords),
  ...Object.keys(vocabulary.linePlaces),
  ...Object.values(vocabulary.picks).flat(),
  ...vocabulary.untoldEntries,
]);
/** One text in quotes, in which a single one stands only inside a word. */
const QUOTED_ENTRY = new RegExp(
  `^(?:(?:${anyOf(vocabulary.entryNouns)}) )?(?:["“„]([^"“”„]+)["”“]|'((?:[^'"“”„]|(?<=[A-Za-z])'(?=[A-Za-z]))+)')$`,
);
const BOX = /^[ \t]*(?:[-*+] )?\[([ xX])\]/;
const BULLET = /^[ \t]*(?:[-*+] |\[[ xX]\])/;
/** Words of an entry without a bullet. More are a sentence of a text. */
const MOST_WORDS = 8;

/** What a wish ticks or takes out of a list; null for any other wish. */
export function markIn(wish: string): Mark | null {
  const text = wish.trim();
  for (const { form, ticks, strikes } of PATTERNS) {
    const { entry = "", listed = "", file = "" } = form.exec(text)?.groups ?? {};
    const told = entryIn(entry);
    if (told !== "") return { entry: told, ticks, strikes, listed: listed.toLowerCase(), file };
  }
  return null;
}

/** The entries of a text that the words can mean; of those to be ticked the open ones, if there are any. */
export function markedLines({ entry, ticks }: Mark, text: string): string[] {
  const wanted = new Set(termsIn(entry));
  const termed = linesOf(text)
    .filter(isEntry)
    .map((line) => ({ line, terms: new Set(termsIn(line)) }))
    .filter(({ terms }) => [...wanted].every((term) => terms.has(term)));
  const exact = termed.filter(({ terms }) => terms.size === wanted.size);
  const alike = (exact.length > 0 ? exact : termed).map(({ line }) => line);
  const opened = alike.filter((line) => BOX.exec(line)?.[1] === " ");
  return ticks && opened.length > 0 ? opened : alike;
}

/** The change of one of its lines: its box ticked, or the line gone; null where it has no box, or is a part of another. */
export function markChange({ ticks, strikes }: Mark, line: string, text: string): LineChange | null {
  if (ticks && BOX.test(line)) return once(line, line.replace("[ ]", "[x]"), text);
  if (!strikes) return null;
  const rows = text.split("\n");
  const at = Math.max(0, rows.indexOf(line));
  if (at < rows.length - 1) return once(`${line}\n`, "", text);
  // The last line has no end of its own, so that of the one before it goes.
  const above = rows[at - 1];
  const old = `${above}\n${rows[at]}`;
  return above !== undefined && text.split(old).length === 2 ? { old, new: above } : null;
}

/** What an entry says by these words: what stands in quotes as it is, else the words; empty where they tell it otherwise. */
function entryIn(said: string): string {
  const quoted = QUOTED_ENTRY.exec(said)
    ?.slice(1)
    .find((text) => text !== undefined);
  if (quoted !== undefined) return termsIn(quoted).length > 0 ? quoted : "";
  return tells(said) ? said : "";
}

/** Whether the words say what the entry says. */
function tells(entry: string): boolean {
  const words = wordsOf(entry);
  const namesThing = words.some(({ start, end }) => isThing(entry.slice(start, end)));
  const isTold = termsIn(entry).length > 0 && !entry.includes(",") && entry.replace(QUOTED, "") === entry;
  return isTold && !namesThing && words.every(({ bare }) => !NO_ENTRY.has(bare));
}

function isEntry(line: string): boolean {
  return BULLET.test(line) || (wordsOf(line).length <= MOST_WORDS && !line.startsWith("#"));
}
