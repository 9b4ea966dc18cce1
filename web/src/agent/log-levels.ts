import { bareThing } from "./acts.ts";
import { LEAD } from "./assigned.ts";
import { copy } from "./copy.ts";
import { cited, excerptOf } from "./excerpts.ts";
import type { ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { isLog, leveled, tellsAll } from "./levels.ts";
import { linesOf } from "./passages.ts";
import { termsIn } from "./ranking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * How bad a line of a log says that something is: "WARN" and "warnings" are one word for it.
 *
 * People ask for errors and warnings; a log has them in its own short words. Code tells the lines apart, so that none means none.
 */

/** The word for how bad they are, the file, and 0 or -1 where only the first or the last is asked for. */
interface LevelAsked {
  readonly level: string;
  readonly file: string;
  readonly place: number | null;
}

const LEVELS = anyOf(Object.values(vocabulary.logLevels).flat());
const VERBS = anyOf([
  ...vocabulary.openingVerbs,
  ...vocabulary.viewingVerbs,
  ...vocabulary.searchPhrases,
  ...["list", "get"],
]);
const ASKS = anyOf([...vocabulary.lineLeads, ...vocabulary.levelAsks]);
const NTH = anyOf(Object.keys(vocabulary.linePlaces));
const HEAD =
  `${LEAD}(?:(?:${VERBS})(?: (?:me|us))?|${ASKS})(?: (?:${anyOf(vocabulary.levelLeads)}))* (?:(${NTH}) )?(${LEVELS})` +
  `(?: (?:${anyOf(vocabulary.levelNouns)}))?(?: (?:${anyOf(vocabulary.levelLinks)}))*`;
const IN = ` (?:${anyOf(vocabulary.levelPlaces)})(?: the)?(?: file)?`;
const ASKED = new RegExp(`${HEAD}${IN} ([^ ,;]+\\.[A-Za-z]+)[.?! ]*$`, "i");
/** The same of a log that is shown already: "are there any errors in this?". */
const POINTED = new RegExp(
  `${HEAD}(?:(?:${IN})? (?:${anyOf([...vocabulary.fileReferences, ...vocabulary.places])})|${IN}(?: [a-z-]+){1,2}(?= logs?\\b))?` +
    "(?: logs?)?[.?! ]*$",
  "i",
);
const PLACES: Readonly<Record<string, number>> = vocabulary.linePlaces;

/** The lines that a wish asks to see of a file; null for any other wish. */
export function linesOfLevel(wish: string): LevelAsked | null {
  const [, said, level = "", file = ""] = ASKED.exec(wish.trim()) ?? [];
  return file === "" ? null : levelIn(said, level, file);
}

function levelIn(said: string | undefined, level: string, file: string): LevelAsked | null {
  const at = said === undefined ? null : PLACES[said.toLowerCase()] === 1 ? 0 : PLACES[said.toLowerCase()];
  if (at !== null && at !== 0 && at !== -1) return null;
  return { level: level.toLowerCase(), file: bareThing(file), place: at };
}

/** These lines, with how many there are and where; null where that is not what a wish asks for. */
export function answerLevel(wish: string, { name, text, whole, hasLines }: ResultSource): string | null {
  const [pointed, nth, word = ""] = isLog(name, text) ? (POINTED.exec(wish.trim()) ?? []) : [];
  const asked = linesOfLevel(wish) ?? (pointed === undefined ? null : levelIn(nth, word, name));
  if (asked === null || !hasLines || !whole) return null;
  const [level, lines] = [leveled(termsIn(asked.level)), linesOf(text)];
  const places = lines.flatMap((line, at) => (tellsAll(level, termsIn(line)) ? [at + 1] : []));
  const shown = asked.place === null ? places : places.slice(asked.place).slice(0, 1);
  const noun = shown.length === 1 ? copy.lineOne : copy.lineMany;
  const said = `${fill(copy.counted, (blank) => (blank === "count" ? `${shown.length}` : noun))} ${cited(name, shown)}`;
  if (shown.length === 0) return said;
  const { text: shownText, leftOut } = excerptOf(shown.map((place) => lines[place - 1]).join("\n"));
  return `${said}:\n\n${shownText}${leftOut === 0 ? "" : `\n${fill(copy.leftOut, () => `${leftOut}`)}`}`;
}
