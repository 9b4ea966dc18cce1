import type { ToolDescriptor } from "../protocol/generated.ts";
import { ownQueries } from "./affairs.ts";
import { sourceOf } from "./answers.ts";
import { collected, kindAsked } from "./collected.ts";
import { foldersSaid } from "./copied.ts";
import { copy } from "./copy.ts";
import { excerptOf } from "./excerpts.ts";
import { asksForFigure, bareFigure, figureIn, type ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { datedIn, describedText, findingIn, folderIn, queryOf, type SoughtText, shorterQueries } from "./finding.ts";
import { answeringAmong, foundFiles, furtherSearch, listerAmong, searches, textSearch } from "./further.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { type Carry, filesIn, type OutcomeWish, outcomeIn } from "./outcomes.ts";
import { linesOf } from "./passages.ts";
import { type FilePick, folderOfKind, KINDS, kindFolder, kindIn, PICK_OF, pickedOf, TOP, topKind } from "./picking.ts";
import { asksAboutContent } from "./questions.ts";
import { termsIn } from "./ranking.ts";
import { readerAmong } from "./reading.ts";
import { requiredOf } from "./render.ts";
import { nonePicked, severalFound } from "./several.ts";
import { tableOf } from "./tables.ts";
import { ofKind, toldApart } from "./told-apart.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * From what was found to the call that stands on it: which file is looked for, and which part of a result goes on as data. A path
 * that was found goes into a call that deletes or moves only where the person's own sentence asked for just that, and only where it
 * is the one that was found. What a file says never decides what is done, only what is written down.
 */

type Tools = readonly Pick<ToolDescriptor, "name" | "category" | "description" | "paramSchema">[];
type Words = ReadonlySet<string>;

/** The tool that does the second half, with its arguments for the path and for the rest. */
interface CarryingTool {
  readonly tool: string;
  readonly path: string;
  readonly rest: string;
}

/** A wish that stands on an outcome, as the tools can do it: the first call, and what is looked for or picked. */
export interface Carrying extends CarryingTool {
  readonly wish: OutcomeWish;
  readonly first: ProposedCall;
  readonly finding: SoughtText | null;
  readonly pick: FilePick | null;
  /** The tool that adds to a file, where `tool` would write all of one. */
  readonly adder: CarryingTool | null;
}

const LEAD = new RegExp(
  `^(?:(?:${anyOf([...vocabulary.fillers, ...vocabulary.cues, "pls"])})[, ]+)*` +
    `(?:(?:${anyOf([...vocabulary.findingOut, ...vocabulary.searchPhrases])}) )?`,
  "i",
);
/** What a search is for: "search my notes for garlic". */
const SEARCHED = new RegExp(
  `^(?:${anyOf(vocabulary.searchPhrases)}) (?:(?:${anyOf([...vocabulary.pluralArticles, "through"])}) )*(?:\\w+ )?for (.+)$`,
  "i",
);
/** What stands somewhere: "where is the ladder mentioned". */
const STANDS = new RegExp(
  `^where (?:${anyOf(vocabulary.helpers)}) (?:(?:${anyOf(vocabulary.pluralArticles)}) )?(.+?) (?:${anyOf(vocabulary.standingWords)})$`,
  "i",
);
const LISTED = new RegExp(`\\b(?:${anyOf(vocabulary.listingPhrases)})\\b`, "i");
/** A file that is told by what it says, and not by its name. */
const SPOKEN = new RegExp(`\\b(?:${anyOf(vocabulary.spokenNames)})\\b`, "i");
const LINE = new RegExp(`\\b(${anyOf(Object.keys(vocabulary.linePlaces))}) (?:line|entry|item)\\b`, "i");
/** What is followed by files, and by no folder: "which of the weekly reports". */
const OF = /\b(?:which|what|one) of (?:the|my|our) /gi;
/** A file that is told by its name without an ending: "the loans file". */
const CALLED = /\b(?:the|my|our) (\w+) (?:file|list|notes|manual)\b/i;
const VAGUE = new RegExp(`,? \\b(?:${anyOf(vocabulary.placelessWords)})\\b`, "gi");
const NAMES: Words = new Set(["name", "names", "path", "paths"]);
const FILES: Words = new Set(["file", "files"]);
const DOCUMENTS: Words = new Set([...vocabulary.documentNouns, ...vocabulary.pickedNouns, ...KINDS]);
const COUNTED: Words = new Set(vocabulary.countedNouns.file);
const ASKING: Words = new Set(vocabulary.askingWords.filter((word) => word !== "check" && word !== "tell"));
const LEANING: Words = new Set(vocabulary.leaningWords);
const WHOLE: Words = new Set(vocabulary.wholeNouns);
const LOOKING: Words = new Set(vocabulary.acts.read.verbs);
/** Words of a wish that only opens a file: "please read a.txt". */
const OPENED = 3;
const MOST_LINES = 3;
const FIGURE_NOUNS: Words = new Set(vocabulary.figureNouns);
/** Terms that tell nothing of the line in which an answer stands. */
const UNTELLING: Words = new Set(
  [
    ...vocabulary.lightWords,
    ...vocabulary.askingWords,
    ...vocabulary.figureNouns,
    ...vocabulary.findingOut,
    ...vocabulary.keptNouns,
  ].flatMap(termsIn),
);
/** Words of "the budget file from there" that a file's name need not have. */
const UNNAMING: Words = new Set([
  ...DOCUMENTS,
  ...vocabulary.lightWords,
  ...vocabulary.commonTerms,
  ...vocabulary.folderNouns,
]);
/** What the tool for an act is like: its category, the words of its name, and how many arguments it needs. */
const DOING: Readonly<Record<Carry, readonly [category: string, parts: readonly string[], count: number]>> = {
  keep: ["write", ["write", "save"], 2],
  add: ["write", ["append", "add"], 2],
  remove: ["destructive", vocabulary.acts.delete.calls, 1],
  move: ["write", vocabulary.acts.move.calls, 2],
};

/** What to do for a wish that stands on an outcome; null for any other wish, and where no one tool does a half of it. */
export function carryingIn(wish: string, tools: Tools): Carrying | null {
  const outcome = outcomeIn(wish);
  const able = outcome === null ? null : ableTo(outcome.carry, tools);
  const reader = readerAmong(tools);
  if (outcome === null || able === null || reader === null) return null;
  const adder = outcome.carry === "keep" ? ableTo("add", tools) : null;
  const plan = { wish: outcome, ...able, finding: null, pick: null, adder };
  const [file] = filesIn(outcome.source);
  if (file !== undefined) return { ...plan, first: { name: reader.name, arguments: { [reader.path]: file } } };
  const listed = listingFor(outcome, tools);
  if (listed !== null) return { ...plan, first: listed, pick: pickIn(outcome.source) ?? pickInKept(outcome) };
  const finding = findingFor(outcome);
  const first = finding === null ? null : textSearch(finding.query, finding, tools);
  return first === null ? null : { ...plan, first, finding };
}

/** Whether the second half is done, or was decided. */
export function isCarried({ tool, adder }: Carrying, calls: readonly ToolMessage[]): boolean {
  return calls.some(({ call }) => call.name === tool || call.name === adder?.tool);
}

/**
 * What follows these calls: a further one, which is the second half itself where a path is what goes on; the words where it stays
 * open which file is meant; null where what was read goes on.
 */
export function nextLook(
  carrying: Carrying,
  calls: readonly ToolMessage[],
  tools: Tools,
): ProposedCall | string | null {
  const { wish, finding, pick } = carrying;
  const takesPath = wish.carry === "remove" || wish.carry === "move";
  const naming = namedIn(carrying);
  if (naming.length > 0) {
    const listed = foundFiles(calls[0] as ToolMessage, tools);
    const called = listed.filter((each) => naming.every((word) => baseOf(each).includes(word)));
    return called.length === 1 ? carried(carrying, called[0] as string) : severalFound(naming.join(" "), called);
  }
  if (pick !== null) return nextPicked(carrying, pick, calls, tools);
  if (finding === null) return null;
  const search = calls.findLast(searches) as ToolMessage;
  const found = foundFiles(search, tools);
  const files = takesPath ? ofKind(found, wish.source, search) : found;
  const query = finding.query.replaceAll("*", "");
  if (takesPath || (keepsNames(wish) && !asks(wish.source))) {
    const [file, ...more] = files;
    if (file === undefined) return furtherSearch(finding, calls, tools) ?? severalFound(query, files);
    if (takesPath && more.length > 0) return severalFound(query, files);
    return carried(carrying, files.join("\n"));
  }
  // A number out of one of several is a guess.
  const isShared = files.length > 1 && search === calls.at(-1) && finding.query.startsWith("*");
  if (isShared && mustBeWorkedOut(carrying)) return severalFound(query, files);
  const further = furtherSearch(finding, calls, tools);
  return further === null && searches(calls.at(-1) as ToolMessage) ? severalFound(query, files) : further;
}

/** The same where one file is told by how it stands among those of a folder. */
function nextPicked(
  carrying: Carrying,
  pick: FilePick,
  calls: readonly ToolMessage[],
  tools: Tools,
): ProposedCall | string | null {
  const { wish, first } = carrying;
  const listing = calls.findLast(({ call }) => call.name === first.name) as ToolMessage;
  const look = (name: string, path: string): ProposedCall => ({ ...first, name, arguments: { [listed]: path } });
  const listed = Object.keys(first.arguments)[0] as string;
  const folder = kindFolder(wish.source, listing);
  if (folder !== "") return look(first.name, folder);
  const kind = topKind(wish.source, listing);
  const picked = pickedOf(pick, wish.source, listing);
  if (picked === null && kind !== "") return fill(copy.noFolderOf, () => kind);
  const files = foundFiles(listing, tools);
  if (picked === null) return files.length > 0 ? nonePicked(files) : severalFound(wish.source, []);
  if (wish.carry === "remove" || wish.carry === "move" || keepsNames(wish)) return carried(carrying, picked);
  const reader = readerAmong(tools) as { readonly name: string; readonly path: string };
  return calls.at(-1) === listing ? { name: reader.name, arguments: { [reader.path]: picked } } : null;
}

/** The words that the name of the one file has which is meant among those of a folder; none where it is told otherwise. */
export function namedIn({ wish, pick }: Carrying): string[] {
  if ((wish.carry !== "remove" && wish.carry !== "move") || pick !== null) return [];
  return wordsOf(wish.kept).flatMap(({ bare }) => (UNNAMING.has(bare) ? [] : [bare]));
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).toLowerCase();
}

/** The second half, with what was found as its data. */
export function carried({ wish, tool, path, rest }: Carrying, value: string): ProposedCall {
  switch (wish.carry) {
    case "remove":
      return { name: tool, arguments: { [path]: value } };
    case "move":
      return { name: tool, arguments: { [path]: value, [rest]: placeFor(value, wish.target) } };
    case "keep":
    case "add":
      return { name: tool, arguments: { [path]: wish.target, [rest]: value.endsWith("\n") ? value : `${value}\n` } };
  }
}

/** What was written down, for the person to see; empty where nothing was. */
export function shownValue({ wish, tool, rest, adder }: Carrying, calls: readonly ToolMessage[]): string {
  if (wish.carry !== "keep" && wish.carry !== "add") return "";
  const done = calls.find(({ call }) => call.name === tool || call.name === adder?.tool) as ToolMessage;
  const kept = done.call.arguments[adder !== null && done.call.name === adder.tool ? adder.rest : rest];
  return excerptOf(String(kept).trim()).text;
}

/** Of the calls the one whose result goes on. */
export function readFor({ finding }: Carrying, calls: readonly ToolMessage[], tools: Tools): ToolMessage {
  return finding === null ? (calls.at(-1) as ToolMessage) : answeringAmong(finding, calls, tools);
}

/** What a file is asked for. */
export function questionOf({ wish }: Carrying): string {
  const isBare = wordsOf(wish.kept).every(({ bare }) => LEANING.has(bare));
  if (isBare || asks(wish.source)) return wish.source;
  const asked = `what is ${wish.kept}?`;
  return wordsOf(wish.source).length <= OPENED ? asked : `${wish.source}. ${asked}`;
}

/** What goes on, where code can tell: a figure, a line by its place, names, the whole. Null where words have to be found. */
export function ownValue({ wish }: Carrying, answering: ToolMessage): string | null {
  const source = sourceOf(answering);
  const said = allWords(wish);
  const lines = linesOf(source.text).filter((line) => line.trim() !== "");
  const place = LINE.exec(said)?.[1];
  if (place !== undefined && source.hasLines) {
    const at = vocabulary.linePlaces[place.toLowerCase()] as number;
    return lines.at(at > 0 ? at - 1 : at) ?? null;
  }
  const kind = kindAsked(said);
  if (kind !== null) return collected(kind, source.text);
  if (asksForFigure(said)) return bareFigure(wish.source, source) ?? bareFigure(said, source);
  const table = tableOf(source.text, "");
  if (table?.listing === true) return table.rows.map(({ cells }) => cells[0]).join("\n");
  return source.hasLines && isWhole(wish) ? source.text : null;
}

/**
 * The one line of a file that holds most of a question, or those that hold all that the file has of it; empty where that is in doubt.
 * What only comes close to an answer is shown, and goes into no other file.
 */
export function linesAbout(question: string, { name, text }: ResultSource): string {
  const named = new Set(termsIn(name));
  const wanted = termsIn(question).filter((term) => !UNTELLING.has(term) && !named.has(term));
  const lines = linesOf(text).filter((line) => !line.startsWith("#"));
  const terms = new Set(termsIn(lines.join("\n")));
  const told = new Set(wanted.filter((term) => terms.has(term)));
  const counts = lines.map((line) => new Set(termsIn(line).filter((term) => told.has(term))).size);
  const most = Math.max(0, ...counts);
  const held = lines.filter((_, at) => counts[at] === most);
  const isClear = most === told.size || (held.length === 1 && 2 * most >= told.size);
  return most > 0 && isClear ? held.slice(0, MOST_LINES).join("\n") : "";
}

/** Whether a number, or all of something, is asked for that nobody may guess. */
export function mustBeWorkedOut({ wish }: Carrying): boolean {
  if (kindAsked(allWords(wish)) !== null) return true;
  const figure = figureIn(allWords(wish));
  return asksForFigure(allWords(wish)) && figure !== "largest" && figure !== "smallest";
}

/** What is to be found out, and which part of it. */
function allWords({ source, kept }: OutcomeWish): string {
  return kept === source ? source : `${source} ${kept}`;
}

/** The one tool that does this, its argument for the path, and the other one. */
export function ableTo(carry: Carry, tools: Tools): CarryingTool | null {
  const [category, parts, count] = DOING[carry];
  const [found, ...more] = tools.flatMap((tool): CarryingTool[] => {
    const required = requiredOf(tool.paramSchema);
    const [path, ...others] = required.filter((name) => slotOf(name) === "path");
    const isNamed = partsOf(tool.name).some((part) => parts.includes(part));
    const isLike = tool.category === category && isNamed && required.length === count;
    if (!isLike || path === undefined || others.length > 0) return [];
    return [{ tool: tool.name, path, rest: required.find((name) => name !== path) ?? "" }];
  });
  return found === undefined || more.length > 0 ? null : found;
}

/** The listing with which it begins: of a folder out of which one file is meant, or whose files are counted or named. */
function listingFor(outcome: OutcomeWish, tools: Tools): ProposedCall | null {
  const lister = listerAmong(tools);
  const { source, kept } = outcome;
  const isCounted = figureIn(`${source} ${kept}`) === "count" && wordsOf(source).some(({ bare }) => COUNTED.has(bare));
  const isNamed = keepsNames(outcome) && LISTED.test(source);
  const isTaken = (outcome.carry === "remove" || outcome.carry === "move") && kept !== "";
  if (lister === null || !(isTaken || pickIn(source) !== null || isCounted || isNamed)) return null;
  const folder = folderFor(source);
  return folder === "" ? null : { name: lister.name, arguments: { [lister.argument]: folder } };
}

/** The folder that words speak of: by its name, or, as with "the newest report", by what it holds. */
function folderFor(source: string): string {
  const [said, ...more] = foldersSaid(source.replaceAll(OF, ""));
  const named = said === undefined || more.length > 0 ? "" : said.replace(/\/+$/, "");
  const isTop = kindIn(source) !== "" || wordsOf(source).some(({ bare }) => bare === "here");
  return folderIn(source) || named || folderOfKind(source) || (isTop ? TOP : "");
}

/** How one file is told among those of a folder; null where none is. */
function pickIn(source: string): FilePick | null {
  const words = wordsOf(source).map(({ bare }) => bare);
  if (!words.some((word) => DOCUMENTS.has(word)) || LINE.test(source)) return null;
  return words.flatMap((word) => PICK_OF.get(word) ?? [])[0] ?? null;
}

/** The same where the half after a listing tells it: "list tmp/ and delete the biggest file". */
function pickInKept({ carry, kept }: OutcomeWish): FilePick | null {
  const pick = carry === "remove" || carry === "move" ? pickIn(kept) : null;
  return pick === "only" ? null : pick;
}

/** What to look for where no file is named. */
function findingFor({ carry, source, kept }: OutcomeWish): SoughtText | null {
  const takesPath = carry === "remove" || carry === "move";
  const asked = source.includes(kept) ? source : `${source} ${kept}`;
  const told = datedIn(source) ?? toldApart(source, asked) ?? (takesPath ? null : findingIn(source));
  if (told !== null) return told;
  const text = source.replace(LEAD, "").replaceAll(VAGUE, "");
  const searched = (SEARCHED.exec(source) ?? STANDS.exec(source))?.[1];
  const described = searched === undefined ? describedText(text) : queryOf(searched);
  if (takesPath && described === "" && text === source && !asks(source)) return null;
  const words = described === "" ? [...ownQueries(text), ...shorterQueries(text)] : shorterQueries(described);
  const whole = described === "" && takesPath ? queryOf(text) : described;
  const queries = [...new Set([whole, ...words])].filter(
    (each) => each !== "" && !FIGURE_NOUNS.has(each.toLowerCase()),
  );
  if (queries.length === 0) return null;
  const called = CALLED.exec(text)?.[1];
  const isByName = takesPath && !SPOKEN.test(source);
  const name = called ?? (isByName ? (shorterQueries(described || text)[0] ?? queries[0]) : undefined);
  const [query = "", ...others] = name === undefined ? queries : [`*${name}*`, ...queries];
  return {
    query,
    folder: folderIn(source),
    asked,
    others,
    own: false,
  };
}

/** Whether the words ask for something out of a file. */
function asks(source: string): boolean {
  return wordsOf(source).some(({ bare }) => ASKING.has(bare)) && asksAboutContent(source);
}

/** Whether the names of files are what is kept. */
function keepsNames({ source, kept }: OutcomeWish): boolean {
  const words = wordsOf(kept).map(({ bare }) => bare);
  const isOfFiles = words.some((word) => FILES.has(word));
  const isFile = isOfFiles || wordsOf(source).some(({ bare }) => DOCUMENTS.has(bare) || bare === "in");
  return words.some((word) => NAMES.has(word)) && isFile;
}

/** Whether all of a file goes on: a copy of it, or what was only opened. */
function isWhole({ source, kept }: OutcomeWish): boolean {
  const words = wordsOf(kept).map(({ bare }) => bare);
  const said = wordsOf(source).map(({ bare }) => bare);
  const isCopied = filesIn(source).includes(source.replaceAll(/^["'`]+|["'`]+$/g, ""));
  const isOpened =
    words.every((word) => LEANING.has(word)) && said.some((word) => LOOKING.has(word)) && said.length <= OPENED;
  return isCopied || words.some((word) => WHOLE.has(word)) || isOpened;
}

/** Where a file goes: into the folder that was named, or to the new name, in its own folder where that names none. */
function placeFor(path: string, target: string): string {
  const end = path.lastIndexOf("/");
  if (filesIn(target).length === 0) return `${target.replace(/\/+$/, "")}/${path.slice(end + 1)}`;
  return target.includes("/") || end < 0 ? target : `${path.slice(0, end)}/${target}`;
}
