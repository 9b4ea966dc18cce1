import type { ToolDescriptor } from "../protocol/generated.ts";
import { LEAD } from "./assigned.ts";
import { ableTo } from "./carrying.ts";
import { copy } from "./copy.ts";
import { fill } from "./fill.ts";
import { foundFiles, listerAmong, searcherAmong } from "./further.ts";
import type { ProposedCall } from "./lane.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { byAge, type FilePick, TOP } from "./picking.ts";
import { nonePicked } from "./several.ts";
import { tableOf } from "./tables.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";

/*
 * Files that are to be deleted together, or by how they stand among others: "both logs", "the two oldest logs", all of a folder.
 * Which they are only a look tells. Where they are not as many as was said, or cannot be told apart, nothing is deleted.
 */

type Tools = readonly Pick<ToolDescriptor, "name" | "category" | "description" | "paramSchema">[];

/**
 * Files that are to be deleted: how many, 0 for all of them, and the word for them, empty for those that were shown last; "oldest" or
 * "newest" where they stand so among the others; the folder whose files they are, where all of one are meant.
 */
export interface Group {
  readonly count: number;
  readonly noun: string;
  readonly pick: FilePick | "";
  readonly folder: string;
}

const TAIL = `(?:,? (?:${anyOf([...wishWords.tails, "away", "out"])}))*[.!?]*$`;
const DISCARDS = `${LEAD}(?:${anyOf(vocabulary.discardingVerbs)})`;
const NUMBER = anyOf(Object.entries(vocabulary.numberWords).flatMap(([word, number]) => (number > 1 ? [word] : [])));
const ARTICLES = anyOf(vocabulary.groupArticles);
const GROUP = new RegExp(
  `${DISCARDS} (?:(?<whole>both|all)(?: of)?(?: (?:${ARTICLES}))?|` +
    `(?:(?:all|both|${ARTICLES}) )+(?<number>${NUMBER}|[2-9]))` +
    `(?: (?<noun>them|[a-z][a-z-]*))??(?: (?:files|ones))?${TAIL}`,
  "i",
);
const PICKED = new RegExp(
  `${DISCARDS} (?:${ARTICLES}) (?:(?<before>${NUMBER}|[2-9]) )?(?<pick>${anyOf(Object.keys(vocabulary.agedPicks))})` +
    `(?: (?<after>${NUMBER}|[2-9]))? (?<noun>[a-z][a-z-]*)(?: files?)?${TAIL}`,
  "i",
);
const NAME = "[A-Za-z0-9_][A-Za-z0-9_./-]*";
const FOLDER =
  `(?:(?:the|my|our) )?` +
  `(?:(?:folder|directory) (?<behind>${NAME}?)/?|(?<slashed>${NAME}?)/|(?<before>${NAME}?)/? (?:folder|directory))`;
const EMPTIED = new RegExp(`${LEAD}(?:${anyOf(vocabulary.clearingVerbs)}) ${FOLDER}${TAIL}`, "i");
const INSIDE = new RegExp(
  `${DISCARDS} (?:${anyOf(vocabulary.filesWhole)}) (?:${anyOf(vocabulary.folderLinks)}) ` +
    `(?:${FOLDER}|the (?<bare>[a-z][a-z_-]*))${TAIL}`,
  "i",
);
/** What is deleted one by one and is no file. */
const NO_FILES: ReadonlySet<string> = new Set([
  ...vocabulary.unpickedNouns,
  ...vocabulary.eventNouns,
  ...vocabulary.unnamedFiles,
]);
const NO_FOLDERS: ReadonlySet<string> = new Set([
  ...vocabulary.listNouns,
  ...vocabulary.documentNouns,
  ...vocabulary.unpickedNouns,
  "past",
]);
/** What only says that files are meant, which were shown before. */
const SHOWN: ReadonlySet<string> = new Set(["", ...vocabulary.shownFiles, "file"]);
const FEW = 3;
/** Files that one wish may take: further ones would come after as many questions. */
const MOST = 6;

/** The files that a wish is to have deleted together, or by their age; null for any other wish. */
export function groupIn(wish: string): Group | null {
  const text = wish.trim();
  const group = GROUP.exec(text)?.groups;
  if (group !== undefined) {
    const { whole = "", number = "", noun } = group;
    return { count: whole.toLowerCase() === "both" ? 2 : numberOf(number), noun: nounOf(noun), pick: "", folder: "" };
  }
  const { before = "", after = "", pick = "", noun = "" } = PICKED.exec(text)?.groups ?? {};
  if (pick !== "" && !NO_FILES.has(noun.toLowerCase())) {
    const aged = vocabulary.agedPicks[pick.toLowerCase()] as FilePick;
    return { count: numberOf(before || after) || 1, noun: nounOf(noun), pick: aged, folder: "" };
  }
  for (const form of [EMPTIED, INSIDE]) {
    const folder = Object.values(form.exec(text)?.groups ?? {}).find((each) => each !== undefined) ?? "";
    if (folder !== "" && !NO_FOLDERS.has(folder.toLowerCase())) return { count: 0, noun: "", pick: "", folder };
  }
  return null;
}

/** The call with which the deletion begins, or the words where it cannot be made; null where nothing tells which files. */
export function firstTaken(group: Group, messages: readonly Message[], tools: Tools): ProposedCall | string | null {
  const [search, lister] = [nameSearcher(tools), listerAmong(tools)];
  if (search === null || ableTo("remove", tools) === null) return null;
  if (group.folder !== "")
    return lister === null ? null : { name: lister.name, arguments: { [lister.argument]: group.folder } };
  const shown = shownFiles(group, messages, tools);
  const first = shown.length > 0 ? nextOf(group, shown, [], tools) : null;
  if (first !== null || group.noun === "") return first;
  return { name: search.name, arguments: { [search.argument]: `*${rootOf(group.noun)}*` } };
}

/** What follows these calls; the words where it cannot be made; null once they are gone. */
export function nextTaken(
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
  if (files.length > 0 || lister === null || group.folder !== "") return nextOf(group, files, changes, tools);
  if (looks.length === 1) return { name: lister.name, arguments: { [lister.argument]: TOP } };
  const table = tableOf(last.result.content, "");
  const rows = table?.listing === true ? table.rows : [];
  const named = rows.flatMap(({ cells: [name = "", kind] }) => (kind === "folder" ? [name] : []));
  const folder = named.find((name) => rootOf(name.toLowerCase().replace(/\/$/, "")) === rootOf(group.noun));
  if (folder === undefined || looks.length > 2) return notOne(group.noun, []);
  return { name: lister.name, arguments: { [lister.argument]: folder } };
}

/** The files that nobody was asked about after these calls, of which the last one did not run. */
export function leftOf(
  group: Group,
  calls: readonly ToolMessage[],
  messages: readonly Message[],
  tools: Tools,
): string[] {
  const last = calls.at(-1) as ToolMessage;
  const left: string[] = [];
  const closed = [...calls];
  let step = nextTaken(group, closed, messages, tools);
  while (step !== null && typeof step !== "string") {
    left.push(...Object.values(step.arguments).map(String));
    closed.push({ ...last, call: { ...last.call, arguments: step.arguments } });
    step = nextTaken(group, closed, messages, tools);
  }
  return left;
}

/** Of the calls of a change those that changed something. */
export function changesAmong(calls: readonly ToolMessage[], tools: Tools): ToolMessage[] {
  const looks = new Set(tools.flatMap(({ name, category }) => (category === "read" ? [name] : [])));
  return calls.filter(({ call }) => !looks.has(call.name));
}

/** What is said where no file is called so, or several are. */
export function notOne(name: string, files: readonly string[]): string {
  const names = files.map((file) => `\`${file}\``).join(", ");
  const sentence = files.length === 0 ? copy.noFileCalled : copy.severalNamed;
  return fill(sentence, (blank) => (blank === "query" ? name : names));
}

/** The tool that searches for names. */
export function nameSearcher(tools: Tools): ReturnType<typeof searcherAmong> {
  return searcherAmong(tools.filter(({ description }) => description.includes("*")));
}

/** A word as it stands in names: of "logs" there is "log". */
export function rootOf(word: string): string {
  return word.length > FEW ? word.replace(/s$/, "") : word;
}

function numberOf(said: string): number {
  const words: Readonly<Record<string, number>> = vocabulary.numberWords;
  return /[0-9]/.test(said) ? Number(said) : (words[said.toLowerCase()] ?? 0);
}

function nounOf(said = ""): string {
  const noun = said.toLowerCase();
  return SHOWN.has(noun) ? "" : noun;
}

/** The deletion of the next of these files, where they are as many as was said. */
function nextOf(
  group: Group,
  files: readonly string[],
  changes: readonly ToolMessage[],
  tools: Tools,
): ProposedCall | string | null {
  const remover = ableTo("remove", tools) as NonNullable<ReturnType<typeof ableTo>>;
  if (files.length === 0)
    return group.folder === "" ? notOne(group.noun, []) : fill(copy.nothingInside, () => group.folder);
  const taken = group.pick === "" ? files : byAge(group.pick, files).slice(0, group.count);
  if (taken.length > MOST || (group.count > 0 && group.count !== taken.length)) return nonePicked(files);
  const gone = changes.map(({ call }) => call.arguments[remover.path]);
  const next = taken.find((file) => !gone.includes(file));
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
