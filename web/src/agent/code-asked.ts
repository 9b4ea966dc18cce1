import limits from "../../../loop/limits.json" with { type: "json" };
import { questionIn } from "./affairs.ts";
import { copy } from "./copy.ts";
import { cited, fenced } from "./excerpts.ts";
import { isCode } from "./fields.ts";
import type { ResultSource } from "./figures.ts";
import { linesOf } from "./passages.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * Questions about a program: where a name is defined or used, and what a function returns or does. They are answered by the program's
 * own lines. A small model tells of them what such a name mostly stands for.
 */

/** The name in a program, and what is asked of it: where it is defined, where it is used, or what it returns or does. */
interface CodeAsked {
  readonly name: string;
  /** Only the verb tells that it is one: "what does f return?". */
  readonly bare?: boolean;
  readonly question: "place" | "uses" | "body";
}

/** A line that a search found. */
interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

const KIND = `(?:${anyOf(wishWords.codeKinds)})`;
const NAME = "[`\"']?([A-Za-z_][A-Za-z0-9_]*)[`\"']?(?:\\(\\))?";
const SPOKEN = `(?:the )?(?:${KIND} ${NAME}|${NAME} ${KIND})`;
const ANY = `(?:the )?(?:${KIND} ${NAME}|${NAME} ${KIND}|${NAME})`;
const PAPERS = anyOf([...(vocabulary.sameThings[0] as readonly string[]), ...wishWords.codeFiles]);
const FILES = `(?:in )?(?:which|what) (?:${PAPERS})`;
const BEINGS = `(?:${anyOf(vocabulary.classifyingWords)})`;
const DOES = anyOf(wishWords.bodyVerbs);
const WHERE = `(?:where(?:['’]?s| ${BEINGS})|${FILES} ${BEINGS})`;
const END = "(?: in [^ ?]+)?[?.! ]*";
const FORMS: readonly (readonly [CodeAsked["question"], string])[] = [
  ["place", `${WHERE} ${ANY} (?:${anyOf(wishWords.definedWords)})${END}`],
  ["place", `${WHERE} ${SPOKEN}${END}`],
  ["place", `${FILES} (?:${anyOf(wishWords.definingVerbs)}) ${ANY}${END}`],
  ["place", `${FILES} (?:${anyOf(vocabulary.holdingVerbs)}) ${SPOKEN}${END}`],
  ["uses", `${WHERE} ${ANY} (?:${anyOf(wishWords.usedWords)})${END}`],
  ["uses", `(?:which|what) (?:${KIND}|${PAPERS})s? (?:${anyOf(wishWords.usingVerbs)}) ${ANY}${END}`],
  ["body", `what does ${SPOKEN} (?:${DOES})\\b.*`],
  ["body", `(?:show|print)(?: me)? ${SPOKEN}${END}`],
  ["body", `how does ${SPOKEN} work${END}`],
];
const ASKED = FORMS.map(([question, form]) => ({ question, form: new RegExp(`^${form}$`, "i") }));
/** The same of a name that only programs have. */
const BARE = new RegExp(`^what does ${NAME} (?:${DOES})\\b.*$`, "i");
/** A name as only programs have them: "load_config", "emptyCart", "MAX". */
const CODED = /^(?:[A-Za-z0-9]*_|[A-Za-z0-9]*[a-z0-9][A-Z]|[A-Z][A-Z0-9]+$)/;
/** A name that is written as one of a program. */
const CALLED = "(?:`([A-Za-z_][A-Za-z0-9_]*)(?:\\(\\))?`|([A-Za-z_][A-Za-z0-9_]*)\\(\\))";
const GIVES = anyOf([...wishWords.returningVerbs, ...wishWords.yieldingVerbs]);
/** What hardly anything but a program does. Corn yields something as well, and a friend gives it back. */
const RETURNED = new RegExp(
  `^what (?:does|will|would) (?:${CALLED} (?:${GIVES})|${NAME} (?:${anyOf(wishWords.returningVerbs)}))${END}$`,
  "i",
);
/** A name as persons and shops have it, which is none of a program: "what does Amazon return?". */
const NAMED = /^[A-Z][a-z]+$/;
const NO_NAMES: ReadonlySet<string> = new Set(vocabulary.fileReferences);
/** Words that stand for something else: "what does she return?". */
const NO_BARE_NAMES: ReadonlySet<string> = new Set([...NO_NAMES, ...vocabulary.tellers, ...vocabulary.toldOf]);
const LEADS = `^[ \\t]*(?:(?:${anyOf(wishWords.definingLeads)}) )*`;
/** A line that a search found: its file, its number and its text. */
const PLACED = /^([^:]*[^: ]):([0-9]+)(?:-[0-9]+)?: ?(.*)$/;
const CLOSING = /^(?:[)\]}]|end)/;
const RETURNS = new RegExp(`\\b(?:${anyOf(wishWords.endingWords)})\\b|=>`);
/** How a name is written: as it is said, else with other letters. */
const SPELLINGS = ["", "i"] as const;

/** What a question asks of a name in a program; null for any other. */
export function codeAsked(wish: string): CodeAsked | null {
  const text = questionIn(wish);
  for (const { question, form } of ASKED) {
    const name = form.exec(text)?.slice(1).find(Boolean);
    if (name !== undefined && !NO_NAMES.has(name.toLowerCase())) return { name, question };
  }
  // "What does photosynthesis do?" has no name of a program.
  const name = BARE.exec(text)?.[1] ?? "";
  if (CODED.test(name)) return { name, question: "body" };
  const [, quoted, called, plain = ""] = RETURNED.exec(text) ?? [];
  const returned = quoted ?? called ?? (NAMED.test(plain) ? "" : plain);
  return returned === "" || NO_BARE_NAMES.has(returned.toLowerCase())
    ? null
    : { name: returned, question: "body", bare: true };
}

/** Whether a line of a program defines the name. */
function defines(name: string, line: string, flags: string): boolean {
  const byWord = `${LEADS}(?:(?:${anyOf(wishWords.definingWords)})\\*? +)+${name}\\b`;
  const byValue = `${LEADS}${name}[ \\t]*(?::[^=]*)?=(?![=>])`;
  const byBody = `${LEADS}(?:[A-Za-z_][A-Za-z0-9_<>[\\]]* )*${name} ?\\([^;]*\\)[^;=]*\\{`;
  return [byWord, byValue, byBody].some((form) => new RegExp(form, flags).test(line));
}

/** Of the lines that a search found the files in which the name is defined. */
export function definingFiles(name: string, found: string): readonly string[] {
  return [...new Set(linesTold({ name, question: "place" }, found).map(({ path }) => path))];
}

/** Whether the lines that a search found answer by themselves what a question asks of a name. */
export function tellsPlaces(wish: string, found: string): boolean {
  return toldPlaces(wish, found) !== null;
}

/** Where a name is defined, or used, by the lines that a search found; null where that is not asked, or not told. */
export function toldPlaces(wish: string, found: string): string | null {
  const asked = codeAsked(wish);
  const lines = asked === null || asked.question === "body" ? [] : linesTold(asked, found);
  if (lines.length === 0) return null;
  const told = lines
    .slice(0, limits.closestLines)
    .map(({ path, line, text }) => `${cited(path, [line])}:\n\n${fenced(text.trim())}`);
  return `${asked?.question === "place" ? copy.definedHere : copy.usedHere} ${told.join("\n\n")}`;
}

/** What a program's own lines say of a name: its definition, or all of what it is; null for any other question. */
export function answerCode(wish: string, { name, text, hasLines }: ResultSource): string | null {
  const asked = hasLines && isCode(name) ? codeAsked(wish) : null;
  if (asked === null || asked.question === "uses") return null;
  const lines = linesOf(text);
  const at = SPELLINGS.map((flags) => lines.findIndex((line) => defines(asked.name, line, flags))).find(
    (each) => each >= 0,
  );
  if (at === undefined) return null;
  const end = asked.question === "place" ? at + 1 : endOf(lines, at);
  const all = Array.from({ length: end - at }, (_, place) => at + place);
  const isLong = all.length > limits.excerptLines;
  const places = isLong ? all.filter((place) => place === at || RETURNS.test(lines[place] as string)) : all;
  const shown = places.slice(0, limits.excerptLines);
  const where = cited(
    name,
    shown.map((place) => place + 1),
  );
  return `${copy.definedHere} ${where}:\n\n${fenced(shown.map((place) => lines[place]).join("\n"))}`;
}

/** The lines of programs that define the name, or have it without that; with other letters, where none is spelt so. */
function linesTold({ name, question }: CodeAsked, found: string): readonly FoundLine[] {
  const lines = linesOf(found).flatMap((each): FoundLine[] => {
    const [, path = "", line, text = ""] = PLACED.exec(each) ?? [];
    return isCode(path) ? [{ path, line: Number(line), text }] : [];
  });
  const told = SPELLINGS.map((flags) => {
    const whole = new RegExp(`\\b${name}\\b`, flags);
    return lines.filter(({ text }) => whole.test(text) && defines(name, text, flags) === (question !== "uses"));
  });
  return told.find(({ length }) => length > 0) ?? [];
}

/** Behind the last line of what a line begins: those that stand further in, and what closes them. */
function endOf(lines: readonly string[], at: number): number {
  const depth = depthOf(lines[at] as string);
  let end = at + 1;
  for (const [place, line] of lines.entries()) {
    const text = line.trim();
    if (place <= at || text === "") continue;
    if (depthOf(line) <= depth && !CLOSING.test(text)) break;
    end = place + 1;
  }
  return end;
}

function depthOf(line: string): number {
  return line.search(/[^ \t]|$/);
}
