import { linesOf } from "./passages.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * A value that is to be set in a file, "set port = 9000 in app.toml", and the one line of the file that holds it. Of such a wish a
 * small model replaces the name by the value, or writes the whole file anew; which text has to change only the file can tell.
 * Whatever is in doubt changes nothing.
 */

/**
 * What is to be set to which value, and where. `isLiteral`: the value is written as a program's text, with its quotes. `condition`
 * is the value that has to stand there, empty for any. `switches`: the value is "on" or "off", in the words that the file has for it.
 */
export interface Assignment {
  readonly key: string;
  readonly value: string;
  readonly file: string;
  readonly isLiteral: boolean;
  readonly condition: string;
  readonly switches: boolean;
}

/** A text of a file and what takes its place. */
export interface LineChange {
  readonly old: string;
  readonly new: string;
}

export const LEAD = `^(?:(?:${anyOf([...vocabulary.fillers, ...vocabulary.cues, ...wishWords.fillers])})[, ]+)*`;
const SETS = `(?:${anyOf(vocabulary.settingVerbs)}) (?:(?:the|my|our) )?`;
const KEY = "(?<key>[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+){0,3}?)";
export const FILE =
  "(?:(?:the|my|our) )?(?:file )?[\"'`]?(?<file>[^\\s\"'`,;:?!()]*[^\\s\"'`,;:?!()./]\\.[A-Za-z][A-Za-z0-9]*)[\"'`]?";
export const VALUE = "(?<value>\"[^\"\\n]*\"|'[^'\\n]*'|`[^`\\n]*`|[^\\s\"'`\\n](?:[^\"'`\\n]{0,80}?[^\\s\"'`\\n])??)";
const JOINT = "(?: (?<to>to|as) | ?(?:=|:=|:) ?)";
export const TAIL = `(?:,? (?:${anyOf([...wishWords.tails, "instead"])}))*[.!?]*$`;
const PLACE = `(?:${anyOf(vocabulary.settingPlaces)})`;
/** How it is said. */
const FORMS = [
  new RegExp(`${LEAD}${SETS}${KEY}${JOINT}${VALUE} ${PLACE} ${FILE}${TAIL}`, "i"),
  new RegExp(`${LEAD}${SETS}${KEY} ${PLACE} ${FILE}${JOINT}${VALUE}${TAIL}`, "i"),
  new RegExp(`${LEAD}in ${FILE},? ${SETS}${KEY}${JOINT}${VALUE}${TAIL}`, "i"),
];

const STATE = (name: string) => `(?<${name}>"[^"\\n]+"|'[^'\\n]+'|\`[^\`\\n]+\`|[^\\s"'\`,;]*[^\\s"'\`,;.!?])`;
const IF = `if (?:(?:the|my|our) )?${KEY} is (?:(?:set to|still|currently) )?${STATE("old")}`;
const THEN =
  `,? (?:(?:then|please) )*(?:${anyOf([...vocabulary.settingVerbs, "make"])}) (?:it|that)` +
  `(?: (?:back )?(?:to|as))? ${STATE("value")}${TAIL}`;
const LOOKS = anyOf([
  ...vocabulary.acts.read.verbs,
  ...vocabulary.lookingVerbs,
  ...["look in", "look at", "look into", "in"],
]);
/** A value that is set only where another one stands there. */
const CONDITIONAL = [
  new RegExp(`${LEAD}(?:${LOOKS}) ${FILE}[,;.]? (?:(?:and|then) )*${IF}${THEN}`, "i"),
  new RegExp(`${LEAD}${IF} ${PLACE} ${FILE}${THEN}`, "i"),
];
const OFF_OF: ReadonlyMap<string, string> = new Map(Object.entries(vocabulary.switchWords));
const ON_OF: ReadonlyMap<string, string> = new Map([...OFF_OF].map(([on, off]) => [off, on]));
const ITS = "(?:(?:the|my|our) )?";
const ABLE = `(?<way>${anyOf([...vocabulary.enablingVerbs, ...vocabulary.disablingVerbs])})`;
/** How it is said that something is turned on or off. */
const SWITCHES = [
  new RegExp(`${LEAD}(?:turn|switch) (?<way>on|off) ${ITS}${KEY} ${PLACE} ${FILE}${TAIL}`, "i"),
  new RegExp(`${LEAD}(?:turn|switch|set) ${ITS}${KEY}(?<! to) (?<way>on|off) ${PLACE} ${FILE}${TAIL}`, "i"),
  new RegExp(`${LEAD}${ABLE} ${ITS}${KEY} ${PLACE} ${FILE}${TAIL}`, "i"),
  new RegExp(`${LEAD}in ${FILE},? (?:turn|switch) (?<way>on|off) ${ITS}${KEY}${TAIL}`, "i"),
  new RegExp(`${LEAD}in ${FILE},? (?:turn|switch|set) ${ITS}${KEY}(?<! to) (?<way>on|off)${TAIL}`, "i"),
  new RegExp(`${LEAD}in ${FILE},? ${ABLE} ${ITS}${KEY}${TAIL}`, "i"),
];
const ON: ReadonlySet<string> = new Set(["on", ...vocabulary.enablingVerbs]);
const SWITCH_NOUN = new RegExp(` (?:${anyOf(vocabulary.switchNouns)})$`, "i");
const HEADER = /^\[([^[\]]+)\] *$/;
const SWITCH_KEYS: ReadonlySet<string> = new Set(vocabulary.switchKeys);

/** A line that sets something: what stands before the name, the name, what parts them, the value, and a comma or a remark. */
const LINE =
  /^(?<before>[ \t]*(?:[-*+] )?["']?)(?<key>[A-Za-z_][A-Za-z0-9_. -]*?)(?<joint>["']?[ \t]*(?:=|:)[ \t]*)(?<value>"[^"]*"|'[^']*'|[^ \t].*?)(?<after>[ \t]*[,;]?(?:[ \t]+(?:#|\/\/).*)?)$/;
/** The same of a member of a JSON document, of which a line may have several. */
const PAIR =
  /(?<before>")(?<key>[A-Za-z_][A-Za-z0-9_. -]*)(?<joint>"[ \t]*:[ \t]*)(?<value>"(?:[^"\\]|\\.)*"|[^ \t",:{}[\]]+)(?=[ \t]*(?:[,}]|$))/g;
/** Characters of a line that sets something. A longer one is data. */
const LONGEST = 400;
const NAMELESS = new Set([...vocabulary.wholeNouns, ...wishWords.pronouns, "this", "that", "text", "line"]);

interface SettingLine {
  readonly line: string;
  readonly key: string;
  readonly section: string;
  readonly head: string;
  readonly value: string;
  readonly after: string;
}

/** What a wish sets in a file that it names; null for any other wish. */
export function assignmentIn(wish: string): Assignment | null {
  const text = wish.trim();
  for (const form of SWITCHES) {
    const { key = "", way = "", file = "" } = form.exec(text)?.groups ?? {};
    const value = ON.has(way.toLowerCase()) ? "on" : "off";
    if (key !== "" && !namesNone(key)) return { key, value, file, isLiteral: false, condition: "", switches: true };
  }
  for (const form of FORMS) {
    const { key = "", to, value = "", file = "" } = form.exec(text)?.groups ?? {};
    if (key !== "" && !namesNone(key))
      return { key, value, file, isLiteral: to === undefined, condition: "", switches: false };
  }
  for (const form of CONDITIONAL) {
    const { key = "", old = "", value = "", file = "" } = form.exec(text)?.groups ?? {};
    if (key !== "" && !namesNone(key))
      return { key, value, file, isLiteral: false, condition: bareOf(old), switches: false };
  }
  return null;
}

/** The change of the one line of a text that sets this; null where none does, several do, or the line stands there twice. */
export function changeFor(assignment: Assignment, text: string): LineChange | null {
  const [found, ...more] = matchesIn(assignment, text);
  if (found === undefined || more.length > 0) return null;
  const value = written(assignment, found.value);
  return value === null ? null : once(found.line, `${found.head}${value}${found.after}`, text);
}

/** A change of a text that stands there once, if need be with the line before it; null where even that stands there twice. */
export function once(old: string, fresh: string, text: string): LineChange | null {
  const lines = linesOf(text);
  const above = lines[lines.indexOf(old.replace(/\n$/, "")) - 1];
  // With the line before it, it is another text: "port" is a part of "report".
  const isPart = countOf(old, text) > 1 && above !== undefined;
  const change = isPart ? { old: `${above}\n${old}`, new: `${above}\n${fresh}` } : { old, new: fresh };
  return countOf(change.old, text) === 1 ? change : null;
}

/** The lines of a text that set this. */
export function settingLines(assignment: Assignment, text: string): string[] {
  return matchesIn(assignment, text).map(({ line }) => line);
}

/** Whether the one line of a text that sets this has the value that the wish speaks of: "on" is what is true. */
export function isMet(assignment: Assignment, text: string): boolean {
  const wanted = assignment.condition.toLowerCase();
  const found = matchesIn(assignment, text).map(({ value }) => bareOf(value).toLowerCase());
  const alike = [OFF_OF, ON_OF].find((words) => words.has(wanted));
  return wanted === "" || found.some((value) => value === wanted || alike?.has(value) === true);
}

function matchesIn({ key: wanted, switches }: Assignment, text: string): SettingLine[] {
  let section = "";
  const short = plain(switches ? wanted.replace(SWITCH_NOUN, "") : wanted);
  const isWanted = ({ key }: SettingLine) => plain(key) === plain(wanted) || plain(key) === short;
  const lines = linesOf(text).flatMap((line): SettingLine[] => {
    if (line.length > LONGEST) return [];
    section = HEADER.exec(line)?.[1] ?? section;
    const { before = "", key = "", joint = "", value = "", after = "" } = LINE.exec(line)?.groups ?? {};
    const whole = key === "" ? [] : [{ line, key, section, head: `${before}${key}${joint}`, value, after }];
    const members = line.includes("{") && !whole.some(isWanted) ? [...line.matchAll(PAIR)].map(memberOf) : [];
    return [...whole, ...members];
  });
  const named = lines.filter(isWanted);
  const inside = lines.filter(({ key, section: own }) => plain(own) === short && SWITCH_KEYS.has(key.toLowerCase()));
  return named.length > 0 || !switches ? named : inside;
}

/** A member of a JSON document as a line that sets something. */
function memberOf({ 0: line, groups }: RegExpExecArray): SettingLine {
  const { before = "", key = "", joint = "", value = "" } = groups as Readonly<Record<string, string>>;
  return { line, key, section: "", head: `${before}${key}${joint}`, value, after: "" };
}

function countOf(part: string, text: string): number {
  return text.split(part).length - 1;
}

/** Whether what should be a name only says which part of a file is meant, or goes back to something. */
function namesNone(key: string): boolean {
  return key
    .toLowerCase()
    .split(" ")
    .some((word) => NAMELESS.has(word));
}

function plain(key: string): string {
  return key.replaceAll(/[ _-]+/g, "").toLowerCase();
}

/** The new value as the old one is written: with its quotes, where that has some; null where what is switched is not on or off. */
function written({ value: given, isLiteral, switches }: Assignment, value: string): string | null {
  const isQuoted = bareOf(given) !== given;
  const other = switched(bareOf(given).toLowerCase(), bareOf(value));
  if (other === null && switches) return null;
  const bare = other ?? bareOf(given);
  const quote = /^(?:".*"|'.*')$/.test(value) ? value.slice(0, 1) : "";
  if (quote !== "") return `${quote}${bare}${quote}`;
  return isLiteral && isQuoted && !given.startsWith("`") ? given : bare;
}

/** A value without the quotes around it. */
function bareOf(value: string): string {
  return /^(?:".*"|'.*'|`.*`)$/.test(value) ? value.slice(1, -1) : value;
}

/** What "on" or "off" is beside a value that says one of them in other words: "true"; null for anything else. */
function switched(given: string, value: string): string | null {
  const now = value.toLowerCase();
  const other = OFF_OF.get(now) ?? ON_OF.get(now);
  if (other === undefined || !(OFF_OF.has(given) || ON_OF.has(given))) return null;
  const word = OFF_OF.has(given) === OFF_OF.has(now) ? now : other;
  return /^\p{Lu}/u.test(value) ? `${word.slice(0, 1).toUpperCase()}${word.slice(1)}` : word;
}
