import limits from "../../../loop/limits.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { askedActs, isThing } from "./acts.ts";
import { spends } from "./affairs.ts";
import { isForAnother } from "./asked.ts";
import { definingFiles, tellsPlaces, toldPlaces } from "./code-asked.ts";
import { copy } from "./copy.ts";
import { answerEnding, endingCall, endingIn, findsNames } from "./endings.ts";
import { excerptOf } from "./excerpts.ts";
import { asksForFigure } from "./figures.ts";
import { fileAsked } from "./file-asked.ts";
import { fill } from "./fill.ts";
import { doubted, findingIn, type SoughtText, sought } from "./finding.ts";
import { calledSo, isByMeaning, isSearch, spellings } from "./found.ts";
import type { ProposedCall } from "./lane.ts";
import { mentionedQuery, toldMentions } from "./mentioned.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { isObject } from "./parse.ts";
import { linesOf } from "./passages.ts";
import { filesOf, joined, kindFolder, pickedFrom, pickOf, topKind } from "./picking.ts";
import { termsIn } from "./ranking.ts";
import { filesRead, isPath, readerAmong } from "./reading.ts";
import { requiredOf } from "./render.ts";
import { nonePicked, severalFound } from "./several.ts";
import { matchOf, tableOf } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * What is read after a search or a listing, so that a question is answered out of a file and not out of the list. Reading is all
 * that ever follows here: a name out of a result is given to the one tool that reads and to no other, so that no text in a result
 * can make anything change or leave the machine. What the person asks to be done with a find is in `carrying.ts`.
 */

type Tools = readonly (Pick<ToolDescriptor, "name" | "description" | "category" | "paramSchema"> &
  Partial<Pick<ToolDescriptor, "permission">>)[];

const MOST = limits.furtherReads;
const MOST_FOUND = limits.foundFiles;
const IT: ReadonlySet<string> = new Set(vocabulary.fileReferences);
const ASKING: ReadonlySet<string> = new Set([...vocabulary.askingWords, ...vocabulary.contentVerbs]);
/** Passages that are shown of a search by meaning. */
const MOST_ALIKE = 2;
/** Words of a wish that is about "it" and nothing else. */
const MOST_WORDS = 10;

/**
 * The calls of the action under way that have closed: those after the last words of the turn; of those that were proposed for several
 * actions together the first that no words have told of.
 */
export function callsUnderWay(messages: readonly Message[], turnId: string): ToolMessage[] {
  let calls: ToolMessage[] = [];
  let areSeveral = false;
  for (const each of messages) {
    if (each.turnId !== turnId || each.role === "user") continue;
    if (each.role === "tool") calls.push(each);
    else if (each.toolCalls.length > 0) {
      const own = areSeveral ? calls.slice(0, 1) : calls;
      areSeveral = each.toolCalls.length > 1;
      calls = areSeveral ? [] : own;
    } else calls = areSeveral ? calls.slice(1) : [];
  }
  return areSeveral ? calls.slice(0, 1) : calls;
}

/** The search or the listing with which a question about a file that it only describes begins; null for any other wish. */
export function lookingFor(wish: string, tools: Tools): ProposedCall | null {
  if (readerAmong(tools) === null) return null;
  const folder = pickedFrom(wish);
  if (folder !== null) {
    const lister = listerAmong(tools);
    return lister === null ? null : { name: lister.name, arguments: { [lister.argument]: folder } };
  }
  const told = findingIn(wish);
  const finding = told ?? doubted(wish);
  if (finding === null || (finding.own && isForAnother(wish, tools))) return null;
  const search = textSearch(finding.query, finding, tools);
  return told !== null || search === null || runsByItself(search.name, tools) ? search : null;
}

/** The search for files by their ending, or by what they mention, where a wish asks for just that. */
export function namesFor(wish: string, tools: Tools): ProposedCall | null {
  const [found, mentioned] = [endingIn(wish), mentionedQuery(wish)];
  if (found === null) {
    const sought = { query: mentioned, folder: "", asked: wish, others: [], own: false };
    return mentioned === "" ? null : textSearch(mentioned, sought, tools);
  }
  const finding = { query: found.ending, folder: found.folder, asked: wish, others: [], own: false };
  const search = textSearch(found.ending, finding, tools);
  return search !== null && findsNames(search.name, tools) ? endingCall(found, search) : null;
}

/** Whether it was looked for what may as well be of the world, and nothing was found. */
export function foundNoWord(wish: string, last: ToolMessage): boolean {
  const finding = findingIn(wish) === null ? doubted(wish) : null;
  return finding !== null && searches(last) && rankedFiles(finding, last).length === 0;
}

/** Whether the policy lets a tool run without asking anybody. */
function runsByItself(name: string, tools: Tools): boolean {
  return tools.some((tool) => tool.name === name && tool.permission === "auto");
}

/** The call that reads the file which a wish means by its place in a folder that was just listed; null for any other wish. */
export function pickedShown(wish: string, closed: readonly ToolMessage[], tools: Tools): ProposedCall | null {
  const [reader, lister, folder] = [readerAmong(tools), listerAmong(tools), pickedFrom(wish)];
  if (reader === null || lister === null || folder === null) return null;
  const listings = closed.filter(({ call, result }) => call.name === lister.name && result.outcome === "ok");
  const shown = listings.find(({ call }) => String(call.arguments[lister.argument]).replace(/\/+$/, "") === folder);
  const picked = shown === undefined ? null : pickOf(wish, shown);
  return picked === null ? null : { name: reader.name, arguments: { [reader.path]: picked } };
}

/** What to read, or to look for, after these calls of one action; null once that is enough. Never more than three. */
export function furtherCall(wish: string, calls: readonly ToolMessage[], tools: Tools): ProposedCall | null {
  const reader = readerAmong(tools);
  const [first] = calls;
  if (reader === null || first === undefined || calls.length > MOST) return null;
  if (first.call.name === reader.name || calls.some(({ result }) => result.outcome !== "ok")) return null;
  const read = (path: string): ProposedCall => ({ name: reader.name, arguments: { [reader.path]: path } });
  if (endingIn(wish) !== null || mentionedQuery(wish) !== "") return null;
  if (pickedFrom(wish) !== null) {
    // The listing of the folder that keeps such files, or the read.
    const [last, lister] = [calls.at(-1) as ToolMessage, listerAmong(tools)];
    if (lister === null || last.call.name !== lister.name) return null;
    const folder = kindFolder(wish, last);
    if (folder !== "") return { name: lister.name, arguments: { [lister.argument]: folder } };
    const picked = pickOf(wish, last);
    return picked === null ? null : read(picked);
  }
  const finding = findingOf(wish, first);
  return finding === null ? null : furtherSearch(finding, calls, tools);
}

/** What to read, or to look for, after these calls that began with a search; null once that is enough. */
export function furtherSearch(finding: SoughtText, calls: readonly ToolMessage[], tools: Tools): ProposedCall | null {
  const reader = readerAmong(tools);
  const [first] = calls;
  if (reader === null || first === undefined || calls.length > MOST || !searches(first)) return null;
  const found = calls.filter(searches);
  const last = found.at(-1) as ToolMessage;
  const ranked = rankedFiles(finding, last);
  if (ranked.length === 0) return anotherSearch(finding, found, tools);
  const files = finding.one === true && ranked.length > 1 ? calledSo(finding.query, ranked) : ranked;
  if (isByMeaning(last.call.name) || tellsPlaces(finding.asked, last.result.content)) return null;
  const opened = calls.filter(({ call }) => call.name === reader.name);
  if (!canAnswer(finding, files) || opened.some((each) => holdsAll(finding, each))) return null;
  const paths = opened.map(({ call }) => call.arguments[reader.path]);
  const unread = files.find((path) => !paths.includes(path));
  return unread === undefined ? null : { name: reader.name, arguments: { [reader.path]: unread } };
}

/** Of the calls of an action the one that answers it: what was read and holds most of the question, else the last. */
export function answeringCall(wish: string, calls: readonly ToolMessage[], tools: Tools): ToolMessage {
  const finding = findingOf(wish, calls[0] as ToolMessage);
  return finding === null ? (calls.at(-1) as ToolMessage) : answeringAmong(finding, calls, tools);
}

/** The same where it is known what is looked for. */
export function answeringAmong(finding: SoughtText, calls: readonly ToolMessage[], tools: Tools): ToolMessage {
  const reader = readerAmong(tools);
  const read = calls.filter(({ call }) => call.name === reader?.name);
  if (read.length < 2) return calls.at(-1) as ToolMessage;
  const wanted = wantedBy(finding);
  const held = read.map(({ result }) => new Set(termsIn(result.content).filter((term) => wanted.has(term))).size);
  return read[held.indexOf(Math.max(...held))] as ToolMessage;
}

/** The half of a wish that asks something of the file that was found; all of it for any other call. */
export function askedOfFile(wish: string, last: ToolMessage, tools: Tools): string {
  const isRead = last.call.name === readerAmong(tools)?.name;
  return (isRead ? (fileAsked(wish) ?? findingIn(wish))?.asked : undefined) ?? wish;
}

/** What the loop says where a search or a listing did not lead to one file; null where it did, or where that is not asked. */
export function leftOpen(wish: string, calls: readonly ToolMessage[]): string | null {
  const last = calls.at(-1) as ToolMessage;
  const ended = answerEnding(wish, last);
  if (ended !== null) return ended;
  const mentioned = mentionedQuery(wish);
  if (mentioned !== "" && searches(last) && !isByMeaning(last.call.name)) return toldMentions(mentioned, last);
  if (pickedFrom(wish) !== null) {
    const table = tableOf(last.result.content, "");
    const kind = table?.listing === true ? topKind(wish, last) : "";
    if (kind !== "") return fill(copy.noFolderOf, () => kind);
    const files = table?.listing === true ? filesOf(table) : [];
    return files.length === 0 ? null : nonePicked(files.map(({ name }) => name));
  }
  const finding = findingOf(wish, calls[0] as ToolMessage);
  if (finding === null || !searches(last)) return null;
  const told = toldPlaces(wish, last.result.content);
  if (told !== null) return told;
  const files = rankedFiles(finding, last);
  if (finding.defined === true && files.length === 0)
    return fill(copy.notDefined, () => finding.query.replace(/\($/, ""));
  if (files.length > 0 && isByMeaning(last.call.name)) {
    // It finds something for every question: what is near is shown, and no model makes an answer of it.
    const nearest = linesOf(last.result.content).filter((line) => matchOf(line) !== null);
    return `${fill(copy.nearest, () => finding.query)}\n\n${excerptOf(nearest.slice(0, MOST_ALIKE).join("\n")).text}`;
  }
  return severalFound(files.length > 0 ? queryThatFound([last]) : finding.query, files);
}

/** The call that reads "it", where the newest call of the conversation found one file; null for any other wish. */
export function pointedReading(wish: string, messages: readonly Message[], tools: Tools): ProposedCall | null {
  const reader = readerAmong(tools);
  const last = messages.findLast((each) => each.role === "tool");
  const words = wordsOf(wish);
  const isAboutIt =
    words.length <= MOST_WORDS && words.some(({ bare }) => IT.has(bare)) && words.some(({ bare }) => ASKING.has(bare));
  const namesThing = words.some(({ start, end }) => isThing(wish.slice(start, end)));
  if (reader === null || last === undefined || !isAboutIt || namesThing) return null;
  if (askedActs(wish).some(({ act }) => act !== "read")) return null;
  const [file, ...more] = [...filesRead(wish, last, reader), ...foundFiles(last, tools)];
  return file === undefined || more.length > 0 ? null : { name: reader.name, arguments: { [reader.path]: file } };
}

/** The files that a listing or a search shows, by their paths. */
export function foundFiles(message: ToolMessage, tools: Tools): string[] {
  const { call, result } = message;
  if (result.outcome !== "ok" || !tools.some((tool) => tool.name === call.name && looks(tool))) return [];
  const lines = linesOf(result.content);
  const table = tableOf(result.content, "");
  if (table?.listing === true && lines.every((line) => matchOf(line) === null))
    return filesOf(table).map(({ name }) => joined(message, name));
  return [...new Set(lines.flatMap((line) => pathOf(line) ?? []))];
}

/** A call that reads a file by a bare name, with the path that the newest listing or search has for it, where that is one. */
export function resolved(call: ProposedCall, messages: readonly Message[], tools: Tools): ProposedCall {
  const reader = readerAmong(tools);
  const given = call.name === reader?.name ? call.arguments[reader.path] : undefined;
  if (reader === null || typeof given !== "string" || given === "" || given.includes("/")) return call;
  const shown = messages.findLast((each) => each.role === "tool" && foundFiles(each, tools).length > 0);
  if (shown?.role !== "tool") return call;
  const [path, ...more] = foundFiles(shown, tools).filter((each) => spellings(each).includes(given.toLowerCase()));
  return path === undefined || more.length > 0
    ? call
    : { ...call, arguments: { ...call.arguments, [reader.path]: path } };
}

/** What is looked for: by the words of the wish, or by the search that the model chose for it. */
function findingOf(wish: string, first: ToolMessage): SoughtText | null {
  const [query] = queriesIn(first);
  return findingIn(wish) ?? (query === undefined ? null : (doubted(wish) ?? sought(wish, query)));
}

/** What a call looks for. */
function queriesIn({ call }: ToolMessage): string[] {
  return Object.entries(call.arguments).flatMap(([name, value]) =>
    slotOf(name) === "query" && typeof value === "string" ? [value] : [],
  );
}

/** Whether one of so many files can answer. A number that is worked out of one is wrong where others have a part of it. */
function canAnswer({ own, asked }: SoughtText, { length }: readonly string[]): boolean {
  const isShared = own && length > 1 && (asksForFigure(asked) || spends(asked));
  return length <= MOST_FOUND && !isShared;
}

/** What to look for where nothing was found: other words, then, where a tool does that, the meaning. */
function anotherSearch(finding: SoughtText, found: readonly ToolMessage[], tools: Tools): ProposedCall | null {
  const tried = new Set(
    found.flatMap(({ call }) => Object.values(call.arguments)).map((value) => String(value).toLowerCase()),
  );
  const query = [finding.query, ...finding.others].find((each) => !tried.has(each.toLowerCase()));
  if (query !== undefined && found.length < MOST) return textSearch(query, finding, tools);
  const byMeaning = only(
    tools.filter((tool) => looks(tool) && isByMeaning(tool.name)),
    "query",
  );
  // Of a name in a program no other words come near.
  if (finding.defined === true || byMeaning === null || found.some(({ call }) => call.name === byMeaning.name))
    return null;
  return { name: byMeaning.name, arguments: { [byMeaning.argument]: finding.own ? finding.asked : finding.query } };
}

/** A search for words, or by meaning where no tool looks for words. */
export function textSearch(query: string, { folder }: SoughtText, tools: Tools): ProposedCall | null {
  const searcher = searcherAmong(tools);
  if (searcher === null) return null;
  const [place] = Object.keys(searcher.properties).filter((name) => slotOf(name) === "path");
  const where = folder === "" || place === undefined ? {} : { [place]: folder };
  return { name: searcher.name, arguments: { [searcher.argument]: query, ...where } };
}

/** A tool that looks, and its one argument that says where, or for what. */
interface LookingTool {
  readonly name: string;
  readonly argument: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The one tool that searches, for words where one does that, and the argument that it looks for. */
export function searcherAmong(tools: Tools): LookingTool | null {
  const all = tools.filter((tool) => looks(tool) && isSearch(tool.name));
  const byWords = all.filter((tool) => !isByMeaning(tool.name));
  return only(byWords.length > 0 ? byWords : all, "query");
}

/** The one tool that lists a folder, and the argument that is its path. */
export function listerAmong(tools: Tools): LookingTool | null {
  const listers = tools.filter((tool) => looks(tool) && partsOf(tool.name).includes("list"));
  return only(listers, "path");
}

/** The one tool and the one argument that it needs, where that is of this kind. */
function only([tool, ...more]: Tools, slot: "path" | "query"): LookingTool | null {
  const [argument, ...others] = tool === undefined || more.length > 0 ? [] : requiredOf(tool.paramSchema);
  if (tool === undefined || argument === undefined || others.length > 0 || slotOf(argument) !== slot) return null;
  const { properties } = tool.paramSchema;
  return { name: tool.name, argument, properties: isObject(properties) ? properties : {} };
}

function looks({ name, category }: Pick<ToolDescriptor, "name" | "category">): boolean {
  return category === "read" && !partsOf(name).includes("read");
}

/** Whether a call looks for something. */
export function searches({ call }: ToolMessage): boolean {
  return isSearch(call.name);
}

/** What the last search among these calls looked for; empty where none searched. */
export function queryThatFound(calls: readonly ToolMessage[]): string {
  return calls.filter(searches).flatMap(queriesIn).at(-1) ?? "";
}

/** The file that a line of a search names: before a match, or by itself. */
function pathOf(line: string): string | null {
  return matchOf(line)?.path ?? (isPath(line) ? line : null);
}

/** The files that a search found, those first whose lines hold most of the question, then those with most lines. */
function rankedFiles(finding: SoughtText, search: ToolMessage): readonly string[] {
  const name = finding.query.replace(/\($/, "");
  const defining = finding.code === true ? definingFiles(name, search.result.content) : [];
  if (defining.length > 0 || finding.defined === true) return defining;
  const wanted = wantedBy(finding);
  const begins = beginningOf(finding, search);
  const held = new Map<string, { readonly terms: Set<string>; count: number; begun: number }>();
  for (const line of linesOf(search.result.content)) {
    const path = begins.test(line) ? pathOf(line) : null;
    if (path === null) continue;
    const ofPath = termsIn(path).filter((term) => wanted.has(term));
    const entry = held.get(path) ?? { terms: new Set(ofPath), count: 0, begun: 0 };
    const terms = termsIn(matchOf(line)?.text ?? line);
    for (const term of terms) if (wanted.has(term)) entry.terms.add(term);
    entry.count++;
    // What a line begins with it tells of: "E021: the reading is old".
    if (terms[0] === termsIn(finding.query)[0]) entry.begun++;
    held.set(path, entry);
  }
  const isMeant = (path: string, terms: Set<string>) => terms.size > 0 || spellings(path)[0]?.startsWith(finding.query);
  // What is called so is meant before what only speaks of it: "todo".
  const isCalled = (path: string) => Number(finding.own && spellings(path)[0]?.includes(finding.query.toLowerCase()));
  return [...held]
    .filter(([path, { terms }]) => finding.apart !== true || isMeant(path, terms))
    .sort(
      ([one, a], [two, b]) =>
        b.terms.size - a.terms.size || isCalled(two) - isCalled(one) || b.begun - a.begun || b.count - a.count,
    )
    .map(([path]) => path);
}

/** What a line has to hold: where the loop itself chose what to look for, a word that begins with it. "Take" is no mistake. */
function beginningOf({ own }: SoughtText, { call }: ToolMessage): RegExp {
  const looked = Object.entries(call.arguments).find(([name]) => slotOf(name) === "query")?.[1] ?? "";
  const isByWords = own && !isByMeaning(call.name);
  const plain = String(looked)
    .replace(/^\*+|\*+$/g, "")
    .replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(isByWords ? `(?<![\\p{L}\\p{N}])${plain}` : "", "iu");
}

/** What the question asks for beside what was looked for. */
function wantedBy({ asked, query }: SoughtText): ReadonlySet<string> {
  const light = new Set([...vocabulary.lightWords, ...vocabulary.askingWords].flatMap(termsIn));
  const looked = new Set(termsIn(query));
  return new Set(termsIn(asked).filter((term) => !light.has(term) && !looked.has(term)));
}

function holdsAll(finding: SoughtText, { result }: ToolMessage): boolean {
  const held = new Set(termsIn(result.content));
  return [...wantedBy(finding)].every((term) => held.has(term));
}
