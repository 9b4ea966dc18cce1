import limits from "../../../loop/limits.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { askedActs, isThing } from "./acts.ts";
import { mayBeOwn, ownQueries, questionIn } from "./affairs.ts";
import { sourceOf } from "./answers.ts";
import { isForAnother } from "./asked.ts";
import { asksCount, asksNames, callingTerms, compares, type Meant, meantIn, saysAny } from "./called-names.ts";
import { type Measure, measuresIn, toldOf } from "./comparing.ts";
import { exclusionIn } from "./exclusions.ts";
import { endsEarly, figureIn } from "./figures.ts";
import { findingIn } from "./finding.ts";
import { countedFiles, listedFiles, toldOfFolder } from "./folder-answers.ts";
import { foundFiles, lookingFor, searches, textSearch } from "./further.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { pickedFrom } from "./picking.ts";
import { stem, termsIn } from "./ranking.ts";
import { readerAmong } from "./reading.ts";
import { nameSearcher } from "./taking.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Questions that files answer by their names, or all of a folder: "which bills are unpaid?", "the total of all receipts".
 *
 * No list of words tells that bills are somebody's and planets are not; the names in the workspace do. They are looked at first, by
 * one search that the record shows, and what the question calls by its name is read, a folder as a whole. Rows, sums and counts over
 * its files are worked out by code. A question that calls nothing by its name goes on as if nobody had looked.
 */

type Tools = readonly ToolDescriptor[];
type Terms = ReadonlySet<string>;

/** The search for every name. */
const ALL_NAMES = "*";
const ASKING: Terms = new Set([
  ...vocabulary.questionOpeners,
  ...vocabulary.comparingVerbs,
  ...vocabulary.summingVerbs.map((verb) => verb.split(" ")[0] as string),
  ...vocabulary.explainingVerbs,
  "count",
]);
const WORLD: Terms = new Set([...vocabulary.worldNouns, ...vocabulary.worldVerbs, ...vocabulary.strangeWords]);
const OWN: Terms = new Set([...vocabulary.owners, ...vocabulary.speakers]);
const KNOWN: Terms = new Set(vocabulary.allWords);
const UNTOLD: Terms = new Set([...vocabulary.turnedAway, ...vocabulary.adviceModals]);
const MOST = limits.gatheredFiles;
const MOST_SEARCHES = 3;
const MEASURES: Terms = new Set(vocabulary.measures);

/** The search for all names, where a question may be about what the workspace holds and the policy asks nobody; else null. */
export function namesCall(wish: string, tools: Tools): ProposedCall | null {
  const [search, reader] = [nameSearcher(tools), readerAmong(tools)];
  const isQuiet = (tool: string) => tools.some(({ name, permission }) => name === tool && permission === "auto");
  if (search === null || reader === null || !isQuiet(search.name) || !isQuiet(reader.name) || !mayCall(wish))
    return null;
  const isLed = lookingFor(wish, tools) !== null || (!saysAny(wish, KNOWN) && isForAnother(wish, tools));
  return isLed && !isTold(wish) ? null : { name: search.name, arguments: { [search.argument]: ALL_NAMES } };
}

/** Whether a call is that search. */
export function isNamesCall({ call }: ToolMessage, tools: Tools): boolean {
  const search = nameSearcher(tools);
  if (search === null || call.name !== search.name) return false;
  return call.arguments[search.argument] === ALL_NAMES && Object.keys(call.arguments).length === 1;
}

/**
 * What follows that search and the calls after it: reads of up to `most` files at once, a search for what the question calls by no
 * name, or the words, which are none where nothing of it stands anywhere and it may be about the world; null where the rest is as
 * for any other question.
 */
export function afterNames(
  wish: string,
  names: ToolMessage,
  calls: readonly ToolMessage[],
  tools: Tools,
  most: number,
): readonly ProposedCall[] | string | null {
  const reader = readerAmong(tools) as NonNullable<ReturnType<typeof readerAmong>>;
  const searched = calls.filter(searches);
  const read = calls.filter((each) => !searches(each));
  if ([names, ...calls].some(({ result }) => result.outcome !== "ok")) return null;
  const last = searched.at(-1);
  const together = last === undefined ? null : keptTogether(wish, last, tools);
  const meant = meantIn(wish, foundFiles(names, tools)) ?? together;
  const isFound = last !== undefined && foundFiles(last, tools).length > 0;
  if (meant === null) return read.length > 0 || isFound ? null : searchFor(wish, searched.length, tools);
  const isWhole = meant.folder === "" || !isPart(last ?? names);
  if (meant.files.length > MOST && !asksCount(wish, meant.folder)) return null;
  if (!isWhole) return null;
  if (last === undefined && asksCount(wish, meant.folder)) return countedFiles(meant.files.length, meant.folder);
  if (last === undefined && asksNames(wish, meant.folder)) return listedFiles(meant.files, meant.folder);
  const left = meant.files.slice(read.length);
  if (left.length > 0)
    return left.slice(0, most).map((file) => ({ name: reader.name, arguments: { [reader.path]: file } }));
  if (meant.folder !== "") return toldOfFolder(wish, meant.folder, read.map(sourceOf));
  const [measure = "Shown", ...others]: readonly Measure[] = [...measuresIn(wordsOf(wish).map(({ bare }) => bare))];
  return read.length > 1 ? toldOf(others.length > 0 ? "Shown" : measure, read) : null;
}

/** Whether a search found more than it shows: what is said of all files would be wrong. */
function isPart({ result }: ToolMessage): boolean {
  return result.truncated || endsEarly(result.content);
}

/** The search for the next word of the question that tells something, after so many that were found nowhere. */
function searchFor(wish: string, tried: number, tools: Tools): readonly ProposedCall[] | string | null {
  const calling = callingTerms(wish);
  const words = wordsOf(wish).filter(({ bare }) => termsIn(bare).some((term) => calling.has(term)));
  const word = words.slice(0, MOST_SEARCHES)[tried];
  if (word === undefined) return mayBeOwn(wish) || findingIn(wish) !== null ? null : "";
  const query = stem(word.bare);
  const sought = { query, folder: "", asked: wish, others: [], own: false, apart: false, one: false };
  return [textSearch(query, sought, tools) as ProposedCall];
}

/** The folder of which several files have the word, where a number or some of them are asked for. */
function keptTogether(wish: string, search: ToolMessage, tools: Tools): Meant | null {
  const files = foundFiles(search, tools);
  const [folder = "", ...others] = new Set(files.map((file) => file.slice(0, Math.max(0, file.lastIndexOf("/")))));
  const isOne = files.length > 1 && folder !== "" && others.length === 0;
  return isOne && isTold(wish) ? { folder, files } : null;
}

/** Whether rows, a number or one of several things are asked for. */
function isTold(wish: string): boolean {
  const isWhich = wordsOf(questionIn(wish))[0]?.bare === "which";
  return figureIn(wish) !== null || exclusionIn(wish) !== null || isWhich || compares(wish);
}

/** Whether a wish is a question that a name in the workspace may be an answer to. */
function mayCall(wish: string): boolean {
  const words = wordsOf(questionIn(wish)).map(({ bare }) => bare.replace(/['’]s$/, ""));
  const [opener = "", next = ""] = words;
  if (wish.split(" ").some(isThing) || askedActs(wish).some(({ act }) => act !== "read")) return false;
  if (!ASKING.has(opener) || (opener === "how" && !MEASURES.has(next))) return false;
  if (words.some((word) => UNTOLD.has(word)) || pickedFrom(wish) !== null || callingTerms(wish).size === 0)
    return false;
  if (ownQueries(wish).length > 0 || words.some((word) => OWN.has(word))) return true;
  const names = wish
    .trim()
    .split(" ")
    .slice(1)
    .some((word) => /^\p{Lu}/u.test(word));
  const isKnown =
    opener === "which" ||
    exclusionIn(wish) !== null ||
    words.some((word) => KNOWN.has(word)) ||
    (isTold(wish) && names);
  return isKnown && !words.some((word) => WORLD.has(word));
}
