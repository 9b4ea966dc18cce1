import { linesOf } from "./passages.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * A value that is to be set in a file, "set port = 9000 in app.toml", and the one line of the file that holds it. Of such a wish a
 * small model replaces the name by the value, or writes the whole file anew; which text has to change only the file can tell.
 * Whatever is in doubt changes nothing.
 */

/**
 * What is to be set to which value, and where. `isLiteral`: the value is written as a program's text, with its quotes.
 */
export interface Assignment {
  readonly key: string;
  readonly value: string;
  readonly file: string;
  readonly isLiteral: boolean;
}

/** A text of a file and what takes its place. */
interface LineChange {
  readonly old: string;
  readonly new: string;
}

const LEAD = `^(?:(?:${anyOf([...vocabulary.fillers, ...vocabulary.cues, ...wishWords.fillers])})[, ]+)*`;
const SETS = `(?:${anyOf(vocabulary.settingVerbs)}) (?:(?:the|my|our) )?`;
const KEY = "(?<key>[A-Za-z_][A-Za-z0-9_.-]*(?: [A-Za-z0-9_.-]+){0,3}?)";
const FILE =
  "(?:(?:the|my|our) )?(?:file )?[\"'`]?(?<file>[^\\s\"'`,;:?!()]*[^\\s\"'`,;:?!()./]\\.[A-Za-z][A-Za-z0-9]*)[\"'`]?";
const VALUE = "(?<value>\"[^\"\\n]*\"|'[^'\\n]*'|`[^`\\n]*`|[^\\s\"'`\\n](?:[^\"'`\\n]{0,80}?[^\\s\"'`\\n])??)";
const JOINT = "(?: (?<to>to|as) | ?(?:=|:=|:) ?)";
const TAIL = `(?:,? (?:${anyOf([...wishWords.tails, "instead"])}))*[.!?]*$`;
const PLACE = `(?:${anyOf(vocabulary.settingPlaces)})`;
/** How it is said. */
const FORMS = [
  new RegExp(`${LEAD}${SETS}${KEY}${JOINT}${VALUE} ${PLACE} ${FILE}${TAIL}`, "i"),
  new RegExp(`${LEAD}${SETS}${KEY} ${PLACE} ${FILE}${JOINT}${VALUE}${TAIL}`, "i"),
  new RegExp(`${LEAD}in ${FILE},? ${SETS}${KEY}${JOINT}${VALUE}${TAIL}`, "i"),
];

/** A line that sets something: what stands before the name, the name, what parts them, the value, and a comma or a remark. */
const LINE =
  /^(?<before>[ \t]*(?:[-*+] )?["']?)(?<key>[A-Za-z_][A-Za-z0-9_. -]*?)(?<joint>["']?[ \t]*(?:=|:)[ \t]*)(?<value>"[^"]*"|'[^']*'|[^ \t].*?)(?<after>[ \t]*[,;]?(?:[ \t]+(?:#|\/\/).*)?)$/;
/** Characters of a line that sets something. A longer one is data. */
const LONGEST = 400;
const NAMELESS = new Set([...vocabulary.wholeNouns, ...wishWords.pronouns, "this", "that", "text", "line"]);

interface SettingLine {
  readonly line: string;
  readonly head: string;
  readonly value: string;
  readonly after: string;
}

/** What a wish sets in a file that it names; null for any other wish. */
export function assignmentIn(wish: string): Assignment | null {
  const text = wish.trim();
  for (const form of FORMS) {
    const { key = "", to, value = "", file = "" } = form.exec(text)?.groups ?? {};
    if (key !== "" && !namesNone(key)) return { key, value, file, isLiteral: to === undefined };
  }
  return null;
}

/** The change of the one line of a text that sets this; null where none does, several do, or the line stands there twice. */
export function changeFor(assignment: Assignment, text: string): LineChange | null {
  const [found, ...more] = matchesIn(assignment, text);
  if (found === undefined || more.length > 0) return null;
  const alone = { old: found.line, new: `${found.head}${written(assignment, found.value)}${found.after}` };
  const lines = linesOf(text);
  const above = lines[lines.indexOf(found.line) - 1];
  // With the line before it, it is another text: "port" is a part of "report".
  const isPart = countOf(alone.old, text) > 1 && above !== undefined;
  const change = isPart ? { old: `${above}\n${alone.old}`, new: `${above}\n${alone.new}` } : alone;
  return countOf(change.old, text) === 1 ? change : null;
}

/** The lines of a text that set this. */
export function settingLines(assignment: Assignment, text: string): string[] {
  return matchesIn(assignment, text).map(({ line }) => line);
}

function matchesIn({ key: wanted }: Assignment, text: string): SettingLine[] {
  return linesOf(text).flatMap((line) => {
    const {
      before = "",
      key = "",
      joint = "",
      value = "",
      after = "",
    } = (line.length <= LONGEST ? LINE.exec(line)?.groups : undefined) ?? {};
    return plain(key) === plain(wanted) ? [{ line, head: `${before}${key}${joint}`, value, after }] : [];
  });
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

/** The new value as the old one is written: with its quotes, where that has some. */
function written({ value: given, isLiteral }: Assignment, value: string): string {
  const isQuoted = /^(?:".*"|'.*'|`.*`)$/.test(given);
  const bare = isQuoted ? given.slice(1, -1) : given;
  const quote = /^(?:".*"|'.*')$/.test(value) ? value.slice(0, 1) : "";
  if (quote !== "") return `${quote}${bare}${quote}`;
  return isLiteral && isQuoted && !given.startsWith("`") ? given : bare;
}
