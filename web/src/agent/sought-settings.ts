import type { ToolDescriptor } from "../protocol/generated.ts";
import { isThing } from "./acts.ts";
import { type Assignment, LEAD, settingLines, TAIL, VALUE } from "./assigned.ts";
import { copy } from "./copy.ts";
import { fill } from "./fill.ts";
import { searches, textSearch } from "./further.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { linesOf } from "./passages.ts";
import { readerAmong } from "./reading.ts";
import { matchOf } from "./tables.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * A setting that is to be changed though nobody says in which file it stands: "find the dark mode setting and turn it on".
 *
 * It is looked for by its name, as it is said and in the spellings that programs have, and the one file with a line that sets it is
 * read. Where none has one, or several, nothing is changed, and that is said.
 */

type Tools = readonly Pick<ToolDescriptor, "name" | "category" | "description" | "paramSchema">[];

/** What is to be set, in a file that is still to be found, and what is looked for, one after the other. */
export interface SoughtSetting {
  readonly assignment: Assignment;
  readonly queries: readonly string[];
}

const KEY = "(?<key>[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+){0,2}?)";
/** A word for settings that their names have as well: "darkMode". */
const MODE = "mode";
const NOUN = `(?: (?:${anyOf(vocabulary.switchNouns.filter((noun) => noun !== MODE))})|(?<= ${MODE}))`;
const ITS = "(?:(?:the|my|our) )?";
const FINDS = `${LEAD}(?:${anyOf(vocabulary.searchPhrases)}) ${ITS}${KEY}${NOUN}?(?:,? and|,)(?: then)? `;
const SETS = `(?:${anyOf(vocabulary.settingVerbs)})`;
const ABLE = `(?<way>${anyOf([...vocabulary.enablingVerbs, ...vocabulary.disablingVerbs])})`;
const WAY = "(?<way>on|off)";
const IT = "(?:it|that)";
/** How it is said that something is turned on or off. */
const SWITCHES = [
  `${FINDS}(?:turn|switch|set) ${IT}(?: to)? ${WAY}${TAIL}`,
  `${FINDS}(?:turn|switch) ${WAY} ${IT}${TAIL}`,
  `${FINDS}${ABLE} ${IT}${TAIL}`,
  `${LEAD}(?:turn|switch|set) ${ITS}${KEY}${NOUN}(?: to)? ${WAY}${TAIL}`,
  `${LEAD}(?:turn|switch) ${WAY} ${ITS}${KEY}${NOUN}${TAIL}`,
  `${LEAD}${ABLE} ${ITS}${KEY}${NOUN}${TAIL}`,
  // Without a word for what it is, it has no article: "the lights" are in no file.
  `${LEAD}(?:turn|switch) ${KEY} ${WAY}${TAIL}`,
  `${LEAD}(?:turn|switch) ${WAY} ${KEY}${TAIL}`,
  `${LEAD}${ABLE} ${KEY}${TAIL}`,
].map((form) => new RegExp(form, "i"));
/** How a value is set, of what only a setting is called: by its name in a program, or by a word for settings. */
const VALUES = [
  `${FINDS}${SETS} ${IT} to ${VALUE}${TAIL}`,
  `${LEAD}${SETS} ${ITS}${KEY}${NOUN} to ${VALUE}${TAIL}`,
  `${LEAD}${SETS} (?<key>[A-Za-z]+(?:[_.-][A-Za-z0-9]+)+) (?:to|=) ${VALUE}${TAIL}`,
].map((form) => new RegExp(form, "i"));
const ON: ReadonlySet<string> = new Set(["on", ...vocabulary.enablingVerbs]);
/** Words that no name of a setting has. */
const NO_NAMES: ReadonlySet<string> = new Set([
  ...[...vocabulary.linkWords, ...vocabulary.articles, ...vocabulary.wholeNouns, ...vocabulary.documentNouns],
  ...[...vocabulary.fileReferences, ...vocabulary.phraseEnds, "and", "all", "everything"],
]);

/** What a wish sets without saying where; null for any other wish. */
export function soughtSetting(wish: string): SoughtSetting | null {
  const assignment = assignmentFor(wish.trim());
  if (assignment === null || !isName(assignment.key)) return null;
  const words = assignment.key.split(" ");
  const named = words.length > 1 && words.at(-1) === MODE ? words.slice(0, -1).join(" ") : assignment.key;
  return { assignment, queries: [...new Set([...[" ", "", "_", "-"].map((joint) => words.join(joint)), named])] };
}

/** The search for its next spelling, after so many; null where all were tried, or where no tool searches. */
export function seekingCall({ queries }: SoughtSetting, tried: number, tools: Tools): ProposedCall | null {
  const query = queries[tried];
  const sought = { folder: "", asked: "", others: [], own: false, apart: false, one: false };
  return query === undefined ? null : textSearch(query, { ...sought, query }, tools);
}

/** What follows the searches: a further one, the read of the file that sets it, or the words where there is none. */
export function nextSought(sought: SoughtSetting, calls: readonly ToolMessage[], tools: Tools): ProposedCall | string {
  const reader = readerAmong(tools) as NonNullable<ReturnType<typeof readerAmong>>;
  const { key } = sought.assignment;
  const files = filesIn(sought.assignment, calls.at(-1) as ToolMessage);
  const [file, ...more] = files;
  if (file !== undefined && more.length === 0) return { name: reader.name, arguments: { [reader.path]: file } };
  const names = files.map((each) => `\`${each}\``).join(", ");
  if (file !== undefined) return fill(copy.settingFiles, (name) => (name === "key" ? key : names));
  return seekingCall(sought, calls.filter(searches).length, tools) ?? fill(copy.settingNowhere, () => key);
}

/** The files of which a line that was found sets it. */
function filesIn(assignment: Assignment, { result }: ToolMessage): string[] {
  const matches = linesOf(result.content).flatMap((line) => matchOf(line) ?? []);
  return [...new Set(matches.filter(({ text }) => settingLines(assignment, text).length > 0).map(({ path }) => path))];
}

function assignmentFor(text: string): Assignment | null {
  const switched = SWITCHES.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  const groups = switched ?? VALUES.map((form) => form.exec(text)?.groups).find((each) => each !== undefined);
  if (groups === undefined) return null;
  const { key = "", way = "", value = "" } = groups;
  const given = switched === undefined ? value : ON.has(way.toLowerCase()) ? "on" : "off";
  return { key, value: given, file: "", isLiteral: false, condition: "", switches: switched !== undefined };
}

function isName(key: string): boolean {
  return !wordsOf(key).some(({ start, end, bare }) => NO_NAMES.has(bare) || isThing(key.slice(start, end)));
}
