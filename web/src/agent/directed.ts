import type { ToolDescriptor } from "../protocol/generated.ts";
import { askedActs, isThing } from "./acts.ts";
import { sourceOf } from "./answers.ts";
import { type Assignment, assignmentIn, changeFor, isMet, settingLines } from "./assigned.ts";
import { ableTo } from "./carrying.ts";
import { copy, explainOutcome, nameTheRest } from "./copy.ts";
import { foundFiles, listerAmong, nonePicked, searcherAmong } from "./further.ts";
import type { ProposedCall } from "./lane.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { linesOf } from "./passages.ts";
import { TOP } from "./picking.ts";
import { plainCall } from "./plain-calls.ts";
import { readerAmong } from "./reading.ts";
import { fill, requiredOf } from "./render.ts";
import { tableOf } from "./tables.ts";
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

/** What is to be added to a list, and the words that the list's name has. */
interface Entry {
  readonly kind: "entry";
  readonly text: string;
  readonly named: readonly string[];
}

/** Files that are to be deleted: how many, 0 for all of them, and the word for them, empty for those that were shown last. */
interface Group {
  readonly kind: "group";
  readonly count: number;
  readonly noun: string;
}

/** What an assignment sets, and the call that is made where no line sets it. */
interface Setting {
  readonly kind: "setting";
  readonly assignment: Assignment;
  readonly otherwise: ProposedCall | null;
}

/** A change, and the call with which it begins, or the words where it cannot be made. */
export interface Directed {
  readonly subject: Setting | Entry | Group;
  readonly first: ProposedCall | string;
}

const LEAD = `^(?:(?:${anyOf([...vocabulary.fillers, ...vocabulary.cues, ...wishWords.fillers])})[, ]+)*`;
const TAIL = `(?:,? (?:${anyOf([...wishWords.tails, "away", "out"])}))*[.!?]*$`;
const ENTERS = anyOf(vocabulary.enteringVerbs);
const LIST = new RegExp(
  `${LEAD}(?:${ENTERS})(?: down)? (?<entry>.+?)(?: down)? (?:${anyOf(vocabulary.entryLinks)}) ` +
    `(?:the|my|our) (?<list>(?:[a-z][a-z-]* ){0,2}(?:${anyOf(vocabulary.listNouns)}))${TAIL}`,
  "i",
);
const NUMBER = anyOf(Object.entries(vocabulary.numberWords).flatMap(([word, number]) => (number > 1 ? [word] : [])));
const ARTICLES = anyOf(vocabulary.groupArticles);
const GROUP = new RegExp(
  `${LEAD}(?:${anyOf(vocabulary.discardingVerbs)}) ` +
    `(?:(?<whole>both|all)(?: of)?(?: (?:${ARTICLES}))?|` +
    `(?:(?:all|both|${ARTICLES}) )+(?<number>${NUMBER}|[2-9]))` +
    `(?: (?<noun>them|[a-z][a-z-]*))??(?: (?:files|ones))?${TAIL}`,
  "i",
);
/** What only says that files are meant, which were shown before. */
const SHOWN = new Set(["", ...vocabulary.shownFiles]);
const BULLET = /^(?:[-*+] )?(?:\[[ xX]\] )?/;
const EDITORS = new Set(["edit", "replace"]);
const FEW = 3;
/** Words for a list that its name need not have. */
const GENERAL = new Set([...vocabulary.documentNouns, "lists"]);
const LEANING = new Set(vocabulary.leaningWords);
const RESULTS = new Set(wishWords.results);
/** Files that one wish may take: further ones would come after as many questions. */
const MOST = 6;

/** The change that a wish asks for, where code has to look before it; null for any other wish. */
export function directedIn(wish: string, messages: readonly Message[], tools: Tools): Directed | null {
  return assigning(wish, tools) ?? entering(wish, tools) ?? removing(wish, messages, tools);
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
    case "entry":
      return entryStep(subject, calls, tools);
    case "group":
      return groupStep(subject, calls, messages, tools);
  }
}

/** Of the calls of a change those that changed something. */
export function changesAmong(calls: readonly ToolMessage[], tools: Tools): ToolMessage[] {
  const looks = new Set(tools.flatMap(({ name, category }) => (category === "read" ? [name] : [])));
  return calls.filter(({ call }) => !looks.has(call.name));
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
  if (change === null)
    return fill(isSet ? copy.settingSeveral : copy.settingMissing, (name) => (name === "file" ? file : assignment.key));
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
  const { entry = "", list = "" } = LIST.exec(wish.trim())?.groups ?? {};
  const search = nameSearcher(tools);
  if (list === "" || search === null || ableTo("add", tools) === null || readerAmong(tools) === null) return null;
  const words = wordsOf(entry);
  const [first, ...rest] = words.map(({ bare }) => bare);
  const isResult =
    first === undefined || LEANING.has(first) || [first, ...rest].slice(0, FEW).some((word) => RESULTS.has(word));
  const namesThing = words.some(({ start, end }) => isThing(entry.slice(start, end)));
  if (isResult || namesThing || askedActs(wish).length > 1) return null;
  const named = list.toLowerCase().match(/[a-z]+/g) as string[];
  const own = named.filter((word) => !GENERAL.has(word)).map(rootOf);
  const telling = own.length > 0 ? own : named.slice(-1);
  const isQuoted = entry.replace(QUOTED, "") === "";
  return {
    subject: { kind: "entry", text: isQuoted ? entry.slice(1, -1) : entry, named: telling },
    first: { name: search.name, arguments: { [search.argument]: `*${telling.join("*")}*` } },
  };
}

function entryStep({ text, named }: Entry, calls: readonly ToolMessage[], tools: Tools): ProposedCall | string | null {
  const adder = ableTo("add", tools) as NonNullable<ReturnType<typeof ableTo>>;
  const reader = readerAmong(tools) as NonNullable<ReturnType<typeof readerAmong>>;
  const last = calls.at(-1) as ToolMessage;
  if (changesAmong(calls, tools).length > 0) return null;
  if (last.call.name === reader.name) {
    const source = sourceOf(last);
    const content = `${bulletOf(source.text)}${text}\n`;
    return { name: adder.tool, arguments: { [adder.path]: source.name, [adder.rest]: content } };
  }
  const files = foundFiles(last, tools).filter((path) => {
    const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
    return named.every((word) => name.includes(word));
  });
  const [file, ...more] = files;
  if (file === undefined || more.length > 0) return notOne(named.join(" "), files);
  return { name: reader.name, arguments: { [reader.path]: file } };
}

/** How the last entry of a list begins, its box empty. */
function bulletOf(text: string): string {
  const last = linesOf(text).findLast((line) => line.trim() !== "") ?? "";
  return (BULLET.exec(last) as RegExpExecArray)[0].replace(/\[[xX]\]/, "[ ]");
}

function removing(wish: string, messages: readonly Message[], tools: Tools): Directed | null {
  const groups = GROUP.exec(wish.trim())?.groups;
  const search = nameSearcher(tools);
  if (groups === undefined || search === null || ableTo("remove", tools) === null) return null;
  const { whole = "", number = "", noun: said = "" } = groups;
  const noun = said.toLowerCase();
  const group = { kind: "group", count: countIn(whole, number), noun: SHOWN.has(noun) ? "" : noun } as const;
  const shown = shownFiles(group, messages, tools);
  const first = shown.length > 0 ? nextOf(group, shown, [], tools) : null;
  if (first !== null) return { subject: group, first };
  if (group.noun === "") return null;
  return { subject: group, first: { name: search.name, arguments: { [search.argument]: `*${rootOf(group.noun)}*` } } };
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
  const left: string[] = [];
  const closed = [...calls];
  let step = groupStep(directed.subject, closed, messages, tools);
  while (step !== null && typeof step !== "string") {
    left.push(...Object.values(step.arguments).map((path) => `delete ${path}`));
    closed.push({ ...last, call: { ...last.call, arguments: step.arguments } });
    step = groupStep(directed.subject, closed, messages, tools);
  }
  return left.length > 0 ? `${said}\n\n${nameTheRest(left)}` : said;
}

function countIn(whole: string, number: string): number {
  if (whole.toLowerCase() === "both") return 2;
  const words: Readonly<Record<string, number>> = vocabulary.numberWords;
  return /[0-9]/.test(number) ? Number(number) : (words[number.toLowerCase()] ?? 0);
}

function groupStep(
  group: Group,
  calls: readonly ToolMessage[],
  messages: readonly Message[],
  tools: Tools,
): ProposedCall | string | null {
  const changes = changesAmong(calls, tools);
  const looks = calls.filter((each) => !changes.includes(each));
  const last = looks.at(-1);
  const lister = listerAmong(tools);
  if (last === undefined) {
    const before = messages.filter((each) => each.role !== "tool" || !calls.includes(each));
    return nextOf(group, shownFiles(group, before, tools), changes, tools);
  }
  const files = meant(group, last, tools);
  if (files.length > 0 || lister === null) return nextOf(group, files, changes, tools);
  if (looks.length === 1) return { name: lister.name, arguments: { [lister.argument]: TOP } };
  const table = tableOf(last.result.content, "");
  const rows = table?.listing === true ? table.rows : [];
  const named = rows.flatMap(({ cells: [name = "", kind] }) => (kind === "folder" ? [name] : []));
  const folder = named.find((name) => rootOf(name.toLowerCase().replace(/\/$/, "")) === rootOf(group.noun));
  if (folder === undefined || looks.length > 2) return notOne(group.noun, []);
  return { name: lister.name, arguments: { [lister.argument]: folder } };
}

/** The deletion of the next of these files, where they are as many as was said. */
function nextOf(
  group: Group,
  files: readonly string[],
  changes: readonly ToolMessage[],
  tools: Tools,
): ProposedCall | string | null {
  const remover = ableTo("remove", tools) as NonNullable<ReturnType<typeof ableTo>>;
  if (files.length === 0) return notOne(group.noun, []);
  if (files.length > MOST || (group.count > 0 && group.count !== files.length)) return nonePicked(files);
  const gone = changes.map(({ call }) => call.arguments[remover.path]);
  const next = files.find((file) => !gone.includes(file));
  return next === undefined ? null : { name: remover.tool, arguments: { [remover.path]: next } };
}

/** The files that are meant of those that the newest look of the conversation showed. */
function shownFiles(group: Group, messages: readonly Message[], tools: Tools): string[] {
  const last = messages.findLast((each) => each.role === "tool");
  return last === undefined ? [] : meant(group, last, tools);
}

/** The files of a listing that are called by the word for them: in their own name, or in that of their folder. */
function meant({ noun }: Group, look: ToolMessage, tools: Tools): string[] {
  const root = rootOf(noun);
  return foundFiles(look, tools).filter((path) => root === "" || rootsIn(path).includes(root));
}

/** The words of a file's name and of its folder's. */
function rootsIn(path: string): string[] {
  const words =
    path
      .toLowerCase()
      .split("/")
      .slice(-2)
      .join("/")
      .match(/[a-z]+/g) ?? [];
  return words.map(rootOf);
}

/** What is said where no file is called so, or several are. */
function notOne(name: string, files: readonly string[]): string {
  const names = files.map((file) => `\`${file}\``).join(", ");
  const sentence = files.length === 0 ? copy.noFileCalled : copy.severalNamed;
  return fill(sentence, (blank) => (blank === "query" ? name : names));
}

/** The tool that searches for names. */
function nameSearcher(tools: Tools): ReturnType<typeof searcherAmong> {
  return searcherAmong(tools.filter(({ description }) => description.includes("*")));
}

/** A word as it stands in names: of "logs" there is "log". */
function rootOf(word: string): string {
  return word.length > FEW ? word.replace(/s$/, "") : word;
}
