import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { askedActs, isThing } from "./acts.ts";
import { TASKS } from "./affairs.ts";
import { sourceOf } from "./answers.ts";
import { type Assignment, assignmentIn, changeFor, FILE, isMet, LEAD, settingLines, TAIL } from "./assigned.ts";
import { toolsCalledFor } from "./called-for.ts";
import { ableTo } from "./carrying.ts";
import { copy, explainOutcome, nameTheRest } from "./copy.ts";
import { type Copying, copyingIn } from "./copying.ts";
import { fill } from "./fill.ts";
import { foundFiles, searches } from "./further.ts";
import { pageOf } from "./kept.ts";
import type { ProposedCall } from "./lane.ts";
import { type Mark, markChange, markedLines, markIn } from "./marked.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { linesOf } from "./passages.ts";
import { plainCall } from "./plain-calls.ts";
import { readerAmong } from "./reading.ts";
import { requiredOf } from "./render.ts";
import { nextSought, type SoughtSetting, seekingCall, soughtSetting } from "./sought-settings.ts";
import {
  changesAmong,
  firstTaken,
  type Group,
  groupIn,
  leftOf,
  nameSearcher,
  nextTaken,
  notOne,
  rootOf,
} from "./taking.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * Changes for which code has to look first, because the words of a wish tell all but one thing of the call: which line of a file
 * sets a value, which file is the list that takes an entry, which files are "both logs". What is changed and to what is the
 * person's own; of a result only a name, a line that is there, and how the entries of a list begin go into the call. Where it stays
 * open what is meant, nothing is changed, and that is said.
 */

type Tools = readonly Pick<ToolDescriptor, "name" | "category" | "description" | "paramSchema">[];

/** What is to be added to a list, and the words that the list's name has, or the file that it is. */
interface Entry {
  readonly kind: "entry";
  readonly text: string;
  readonly named: readonly string[];
  readonly file: string;
}

/** What an assignment sets, and the call that is made where no line sets it. */
interface Setting {
  readonly kind: "setting";
  readonly assignment: Assignment;
  readonly otherwise: ProposedCall | null;
}

interface Seeking {
  readonly kind: "sought";
  readonly sought: SoughtSetting;
}

interface Taking {
  readonly kind: "group";
  readonly group: Group;
}

interface Marking {
  readonly kind: "mark";
  readonly mark: Mark;
}

interface CopyingStep {
  readonly kind: "copying";
  readonly copying: Copying;
}

/** A change, and the call with which it begins, or the words where it cannot be made. */
export interface Directed {
  readonly subject: Setting | Seeking | Entry | Taking | Marking | CopyingStep;
  readonly first: ProposedCall | string;
}

const ENTERS = anyOf(vocabulary.enteringVerbs);
const LIST = new RegExp(
  `${LEAD}(?:${ENTERS})(?: down)? (?<entry>.+?)(?: down)? (?:${anyOf(vocabulary.entryLinks)}) ` +
    `(?:the|my|our) (?<list>(?:[a-z][a-z-]* ){0,2}(?:${anyOf(vocabulary.listNouns)}))${TAIL}`,
  "i",
);
const FILED = new RegExp(
  `${LEAD}(?:${anyOf(wishWords.listingVerbs)})(?: down)? (?<entry>.+?)(?: down)? (?:${anyOf(vocabulary.entryLinks)}) ${FILE}${TAIL}`,
  "i",
);
/** Words by which a file is a list. */
const LISTED: ReadonlySet<string> = new Set([...vocabulary.listNouns, ...wishWords.listedThings].map(rootOf));
const BULLET = /^(?:[-*+] )?(?:\[[ xX]\] )?/;
const EDITORS = new Set(["edit", "replace"]);
const FEW = 3;
/** Words for a list that its name need not have. */
const GENERAL = new Set([...vocabulary.documentNouns, "lists"]);
const LEANING = new Set(vocabulary.leaningWords);
const RESULTS = new Set(wishWords.results);
const REDACTED = "[redacted:";

/** The change that a wish asks for, where code has to look before it; null for any other wish. */
export function directedIn(wish: string, messages: readonly Message[], tools: Tools): Directed | null {
  const change =
    assigning(wish, tools) ?? seeking(wish, tools) ?? entering(wish, tools) ?? removing(wish, messages, tools);
  return change ?? marking(wish, messages, tools) ?? copyOf(wish, tools);
}

/** What follows these calls of the change; the words where it cannot be made; null once it is done. */
export function nextDirected(
  { subject }: Directed,
  calls: readonly ToolMessage[],
  messages: readonly Message[],
  tools: Tools,
): ProposedCall | string | null {
  switch (subject.kind) {
    case "setting":
      return settingStep(subject, calls, tools);
    case "sought":
      return searches(calls.at(-1) as ToolMessage)
        ? nextSought(subject.sought, calls, tools)
        : settingStep({ kind: "setting", assignment: subject.sought.assignment, otherwise: null }, calls, tools);
    case "entry":
      return entryStep(subject, calls, tools);
    case "group":
      return nextTaken(subject.group, calls, messages, tools);
    case "mark":
      return markStep(subject.mark, calls, tools);
    case "copying":
      return copyStep(subject.copying, calls, tools);
  }
}

function assigning(wish: string, tools: Tools): Directed | null {
  const assignment = assignmentIn(wish);
  const reader = readerAmong(tools);
  if (assignment === null || reader === null || editorAmong(tools) === null) return null;
  return {
    subject: { kind: "setting", assignment, otherwise: plainCall(wish, tools) },
    first: { name: reader.name, arguments: { [reader.path]: assignment.file } },
  };
}

function seeking(wish: string, tools: Tools): Directed | null {
  const sought = soughtSetting(wish);
  if (sought === null || readerAmong(tools) === null || editorAmong(tools) === null) return null;
  // What somebody has a tool for, such as a lamp, stands in no file.
  const brought = tools.filter(({ name }) => !Object.hasOwn(words.action.descriptions, name));
  const first = toolsCalledFor(wish, brought, true).length > 0 ? null : seekingCall(sought, 0, tools);
  return first === null ? null : { subject: { kind: "sought", sought }, first };
}

function settingStep(
  { assignment, otherwise }: Setting,
  calls: readonly ToolMessage[],
  tools: Tools,
): ProposedCall | string | null {
  const editor = editorAmong(tools) as NonNullable<ReturnType<typeof editorAmong>>;
  if (changesAmong(calls, tools).length > 0) return null;
  const { name: file, text } = sourceOf(calls.at(-1) as ToolMessage);
  const isSet = settingLines(assignment, text).length > 0;
  const change = changeFor(assignment, text);
  if (!isSet && otherwise !== null) return otherwise;
  if (change === null) {
    const isNeither = assignment.switches && settingLines(assignment, text).length === 1;
    const sentence = isNeither ? copy.settingNeither : isSet ? copy.settingSeveral : copy.settingMissing;
    return fill(sentence, (name) => (name === "file" ? file : assignment.key));
  }
  const [line = ""] = settingLines(assignment, text);
  if (change.old === change.new || !isMet(assignment, text))
    return fill(copy.settingSame, (name) => (name === "file" ? file : line.trim()));
  return {
    name: editor.name,
    arguments: { [editor.path]: file, [editor.old]: change.old, [editor.new]: change.new },
  };
}

/** The one tool that replaces a text of a file by another, with its arguments for the file, the old text and the new one. */
function editorAmong(tools: Tools): Readonly<Record<"name" | "path" | "old" | "new", string>> | null {
  const [editor, ...more] = tools.flatMap((tool) => {
    const required = requiredOf(tool.paramSchema);
    const [path, ...others] = required.filter((name) => slotOf(name) === "path");
    const [old, fresh] = ["old", "new"].map((part) => required.findLast((name) => partsOf(name).includes(part)));
    const isEditor = tool.category === "write" && partsOf(tool.name).some((part) => EDITORS.has(part));
    const isFit = isEditor && path !== undefined && others.length === 0 && old !== undefined && fresh !== undefined;
    return isFit ? [{ name: tool.name, path, old, new: fresh }] : [];
  });
  return editor === undefined || more.length > 0 ? null : editor;
}

function entering(wish: string, tools: Tools): Directed | null {
  const {
    entry = "",
    list = "",
    file: written = "",
  } = (LIST.exec(wish.trim()) ?? FILED.exec(wish.trim()))?.groups ?? {};
  const search = nameSearcher(tools);
  if (entry === "" || search === null || ableTo("add", tools) === null || readerAmong(tools) === null) return null;
  const words = wordsOf(entry);
  const [first, ...rest] = words.map(({ bare }) => bare);
  const isResult =
    first === undefined || LEANING.has(first) || [first, ...rest].slice(0, FEW).some((word) => RESULTS.has(word));
  const namesThing = words.some(({ start, end }) => isThing(entry.slice(start, end)));
  if (isResult || namesThing || askedActs(wish).length > 1) return null;
  const file = written.replace(/^\.\//, "");
  const telling = file === "" ? tellingWords(list) : [file.slice(file.lastIndexOf("/") + 1)];
  if (file !== "" && !isList(file)) return null;
  const isQuoted = entry.replace(QUOTED, "") === "";
  return {
    subject: { kind: "entry", text: isQuoted ? entry.slice(1, -1) : entry, named: telling, file },
    first: { name: search.name, arguments: { [search.argument]: `*${telling.join("*")}*` } },
  };
}

/** Whether a file is a list by its name, or by a folder of lists. One of notes holds texts of any kind. */
function isList(file: string): boolean {
  const at = file.lastIndexOf("/") + 1;
  const rootsOf = (text: string) => (text.toLowerCase().match(/[a-z]+/g) ?? []).map(rootOf);
  return rootsOf(file.slice(at)).some((root) => LISTED.has(root)) || rootsOf(file.slice(0, at)).includes("list");
}

function entryStep(
  { text, named, file }: Entry,
  calls: readonly ToolMessage[],
  tools: Tools,
): ProposedCall | string | null {
  const adder = ableTo("add", tools) as NonNullable<ReturnType<typeof ableTo>>;
  const reader = readerAmong(tools) as NonNullable<ReturnType<typeof readerAmong>>;
  const last = calls.at(-1) as ToolMessage;
  if (changesAmong(calls, tools).length > 0) return null;
  if (last.call.name === reader.name) {
    const source = sourceOf(last);
    const content = `${bulletOf(source.text)}${text}\n`;
    return { name: adder.tool, arguments: { [adder.path]: source.name, [adder.rest]: content } };
  }
  if (file === "") return listAmong(named, last, reader, tools);
  return foundFiles(last, tools).includes(file)
    ? { name: reader.name, arguments: { [reader.path]: file } }
    : { name: adder.tool, arguments: { [adder.path]: file, [adder.rest]: `${text}\n` } };
}

/** The call that reads the one file of a search which is called so; the words where there is none, or more of them. */
function listAmong(
  named: readonly string[],
  look: ToolMessage,
  reader: NonNullable<ReturnType<typeof readerAmong>>,
  tools: Tools,
): ProposedCall | string {
  const files = foundFiles(look, tools).filter((path) => {
    const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
    return named.every((word) => name.includes(word));
  });
  const [file, ...more] = files;
  if (file === undefined || more.length > 0) return notOne(named.join(" "), files);
  return { name: reader.name, arguments: { [reader.path]: file } };
}

/** The words of a list's name that are looked for. */
function tellingWords(name: string): string[] {
  const named = name.toLowerCase().match(/[a-z]+/g) ?? [];
  const own = named.filter((word) => !GENERAL.has(word)).map(rootOf);
  return own.length > 0 ? own : named.slice(-1);
}

/** How the last entry of a list begins, its box empty. */
function bulletOf(text: string): string {
  const last = linesOf(text).findLast((line) => line.trim() !== "") ?? "";
  return (BULLET.exec(last) as RegExpExecArray)[0].replace(/\[[xX]\]/, "[ ]");
}

function removing(wish: string, messages: readonly Message[], tools: Tools): Directed | null {
  const group = groupIn(wish);
  const first = group === null ? null : firstTaken(group, messages, tools);
  return group === null || first === null ? null : { subject: { kind: "group", group }, first };
}

function marking(wish: string, messages: readonly Message[], tools: Tools): Directed | null {
  const mark = markIn(wish);
  const [reader, search] = [readerAmong(tools), nameSearcher(tools)];
  if (mark === null || reader === null || search === null || editorAmong(tools) === null) return null;
  if (askedActs(wish).length > 1) return null;
  const file = mark.file || (mark.listed === "" ? readLast(messages, reader) : "");
  if (file !== "") {
    const first = { name: reader.name, arguments: { [reader.path]: file } };
    return { subject: { kind: "mark", mark: { ...mark, file } }, first };
  }
  // What somebody has done stands on the list of what is to do.
  const telling = tellingWords(mark.listed || (mark.ticks ? (TASKS[0] as string) : ""));
  if (telling.length === 0) return null;
  const first = { name: search.name, arguments: { [search.argument]: `*${telling.join("*")}*` } };
  return { subject: { kind: "mark", mark: { ...mark, listed: telling.join(" ") } }, first };
}

/** The file that was read last in the conversation; empty where none was. */
function readLast(messages: readonly Message[], reader: NonNullable<ReturnType<typeof readerAmong>>): string {
  const last = messages
    .filter((each) => each.role === "tool")
    .findLast(({ call, result }) => call.name === reader.name && result.outcome === "ok");
  return last === undefined ? "" : String(last.call.arguments[reader.path]);
}

function markStep(mark: Mark, calls: readonly ToolMessage[], tools: Tools): ProposedCall | string | null {
  const editor = editorAmong(tools) as NonNullable<ReturnType<typeof editorAmong>>;
  const reader = readerAmong(tools) as NonNullable<ReturnType<typeof readerAmong>>;
  const last = calls.at(-1) as ToolMessage;
  if (changesAmong(calls, tools).length > 0) return null;
  if (last.call.name !== reader.name) return listAmong(mark.listed.split(" "), last, reader, tools);
  const { name: file, text } = sourceOf(last);
  const [line = "", ...more] = markedLines(mark, text);
  const change = line === "" || more.length > 0 ? null : markChange(mark, line, text);
  if (change === null) {
    const sentence = more.length > 0 ? copy.entrySeveral : line === "" ? copy.entryMissing : copy.entryUnmarked;
    const told: Readonly<Record<string, string>> = { file, entry: mark.entry, line: line.trim() };
    return fill(sentence, (name) => told[name]);
  }
  if (change.old === change.new) return fill(copy.settingSame, (name) => (name === "file" ? file : change.old.trim()));
  return { name: editor.name, arguments: { [editor.path]: file, [editor.old]: change.old, [editor.new]: change.new } };
}

function copyOf(wish: string, tools: Tools): Directed | null {
  const copying = copyingIn(wish);
  const reader = readerAmong(tools);
  const isMade = tools.some(({ name }) => partsOf(name).includes("copy"));
  if (copying === null || reader === null || isMade || ableTo("keep", tools) === null) return null;
  return {
    subject: { kind: "copying", copying },
    first: { name: reader.name, arguments: { [reader.path]: copying.file } },
  };
}

function copyStep({ to }: Copying, calls: readonly ToolMessage[], tools: Tools): ProposedCall | string | null {
  const writer = ableTo("keep", tools) as NonNullable<ReturnType<typeof ableTo>>;
  const last = calls.at(-1) as ToolMessage;
  const { name: file, text, whole } = sourceOf(last);
  if (changesAmong(calls, tools).length > 0) return null;
  // A copy that lacks a part of the file, or a secret that nobody may see, would be none.
  if (!whole || pageOf(last.result.content).note !== "" || text.includes(REDACTED))
    return fill(copy.notCopied, () => file);
  return { name: writer.tool, arguments: { [writer.path]: to, [writer.rest]: text } };
}

/** What is said of calls of which the last one did not run, with the files of a group that nobody was asked about after it. */
export function stoppedAt(
  directed: Directed | null,
  calls: readonly ToolMessage[],
  messages: readonly Message[],
  tools: Tools,
): string {
  const last = calls.at(-1) as ToolMessage;
  const said = explainOutcome(last.call.name, last.result);
  if (directed?.subject.kind !== "group" || changesAmong(calls, tools).length === 0) return said;
  const left = leftOf(directed.subject.group, calls, messages, tools).map((path) => `delete ${path}`);
  return left.length > 0 ? `${said}\n\n${nameTheRest(left)}` : said;
}
