import type { ToolDescriptor } from "../protocol/generated.ts";
import { copy } from "./copy.ts";
import { fill } from "./fill.ts";
import { spellings } from "./found.ts";
import { foundFiles, listerAmong, searcherAmong } from "./further.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { readerAmong } from "./reading.ts";

/*
 * A file or a folder that is not where a call looked: its name is searched for, and the one place that has it is looked at. People
 * write `Reports` for `reports`, `todo.txt` for `notes/todo.txt`, and a small model takes a file for a folder. Looking is all that
 * follows: what writes or deletes is told that there is no such file, and goes nowhere else.
 */

type Tools = readonly Pick<ToolDescriptor, "name" | "description" | "category" | "paramSchema">[];

/** Calls until the name has been searched for: the one that failed, and the search. */
const SEARCHED = 2;

/** What follows a look that failed: a search for the name, then a look at the one place that has it. Null for other calls. */
export function lookAgain(calls: readonly ToolMessage[], tools: Tools): ProposedCall | null {
  const name = missedName(calls, tools);
  if (name === "" || calls.length > SEARCHED) return null;
  const [missed, search] = calls as readonly [ToolMessage, ToolMessage?];
  if (search === undefined) {
    const searcher = searcherAmong(tools.filter(({ description }) => description.includes("*")));
    return searcher === null ? null : lookAt(searcher.name, searcher.argument, `*${surest(name)}*`);
  }
  const [place, ...more] = places(name, calls, tools);
  if (place === undefined || more.length > 0) return null;
  const { name: tool, arguments: given } = missed.call;
  return place.name === tool && JSON.stringify(place.arguments) === JSON.stringify(given) ? null : place;
}

/** The calls of an action that tell of what was asked: not the look that failed where another followed, nor the search. */
export function withoutMiss(calls: readonly ToolMessage[]): readonly ToolMessage[] {
  if (calls.length < SEARCHED || calls[0]?.result.outcome !== "executionError") return calls;
  return calls.length > SEARCHED ? calls.slice(SEARCHED) : calls.slice(0, 1);
}

/** What the loop says where several places have the name; null elsewhere. */
export function namePlaces(calls: readonly ToolMessage[], tools: Tools): string | null {
  const name = missedName(calls, tools);
  const found = name !== "" && calls.length === SEARCHED ? places(name, calls, tools) : [];
  const names = found.flatMap((each) => Object.values(each.arguments)).map((path) => `\`${path}\``);
  return names.length > 1 ? fill(copy.severalNamed, (blank) => (blank === "query" ? name : names.join(", "))) : null;
}

/** The last part of the path at which the first of these calls looked in vain; empty where there is none to search for. */
function missedName([first]: readonly ToolMessage[], tools: Tools): string {
  if (first?.result.outcome !== "executionError") return "";
  const [reader, lister] = [readerAmong(tools), listerAmong(tools)];
  const { name, arguments: given } = first.call;
  const path = name === reader?.name ? given[reader.path] : name === lister?.name ? given[lister.argument] : null;
  const last = typeof path === "string" ? path.replace(/\/+$/, "").replace(/^.*\//s, "") : "";
  return /^\.*$|[*?[]/.test(last) ? "" : last;
}

/** The looks at what has the name, of the kind that was looked for, or else of the other. */
function places(name: string, calls: readonly ToolMessage[], tools: Tools): ProposedCall[] {
  const [reader, lister] = [readerAmong(tools), listerAmong(tools)];
  const [paths, wanted] = [calls.slice(1).flatMap((search) => foundFiles(search, tools)), name.toLowerCase()];
  const called = [wanted, surest(wanted)].map((each) => paths.filter((path) => spellings(path).includes(each)));
  const files = called.find(({ length }) => length > 0) ?? [];
  const folders = [...new Set(paths.flatMap((path) => foldersNamed(wanted, path)))];
  const read = reader === null ? [] : files.map((path) => lookAt(reader.name, reader.path, path));
  const listed = lister === null ? [] : folders.map((path) => lookAt(lister.name, lister.argument, path));
  const kinds = (calls[0] as ToolMessage).call.name === lister?.name ? [listed, read] : [read, listed];
  return kinds.find(({ length }) => length > 0) ?? [];
}

/** The part of a name that surely is one: of a file's with spaces the last word, for a word before it may have been none. */
function surest(name: string): string {
  const last = name.slice(name.lastIndexOf(" ") + 1);
  return last.includes(".") ? last : name;
}

/** The folders of this name, in lower case, in which a path lies. */
function foldersNamed(wanted: string, path: string): string[] {
  const parts = path.split("/");
  return parts.flatMap((part, at) =>
    at < parts.length - 1 && part.toLowerCase() === wanted ? [parts.slice(0, at + 1).join("/")] : [],
  );
}

function lookAt(name: string, argument: string, value: string): ProposedCall {
  return { name, arguments: { [argument]: value } };
}
