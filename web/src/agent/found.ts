import limits from "../../../loop/limits.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import type { CopyableStrings } from "./copied.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { vocabulary } from "./vocabulary.ts";
import { isSpacedName } from "./words.ts";

/*
 * Names of files that a listing or a search of this conversation showed. A tool that only reads may be given one of them. What
 * writes or deletes may not: there a name is the person's own, for a folder that others write to could hold any.
 */

type ListingTool = Pick<ToolDescriptor, "name" | "category">;

const MEANING: ReadonlySet<string> = new Set(vocabulary.meaningWords);
const SEARCHING: ReadonlySet<string> = new Set(vocabulary.searchVerbs);

/** More are a dump of a disk, and a grammar of them would take longer than the answer. */
const MAX_NAMES = limits.foundNames;

/** What a line of a listing or of a search begins with. */
const NAME = /^[^\t\r :"'`<>|]+/;

/** Lines whose form tells where a name with spaces ends: an entry of a folder, and a line that was found. */
const SPACED = [
  /^- ([^\t\r:"'`<>|]+?)(?:(?<=\/)| \([0-9]+ bytes\)| \(a link\))$/,
  /^([^\t\r:"'`<>|]*[^\t\r :"'`<>|]):[0-9]+(?:-[0-9]+)?: .*$/,
];

/**
 * The names at the beginnings of lines, the newest result first: as they stand, and inside the folder that was listed. Not those
 * in what a reading tool gave: a file could name any other.
 */
export function foundNames(messages: readonly Message[], tools: readonly ListingTool[]): string[] {
  const names = new Set<string>();
  for (const [folder, name] of linesOf(messages, tools)) {
    if (!canBeFile(name)) continue;
    names.add(name);
    if (folder !== "" && !name.includes("/")) names.add(`${folder}/${name}`);
  }
  return [...names].slice(0, MAX_NAMES);
}

/** The paths that such results showed, those of folders too, each from the top of the workspace. */
export function listedPaths(messages: readonly Message[], tools: readonly ListingTool[]): string[] {
  const shown = linesOf(messages, tools).filter(([, name]) => name.endsWith("/") || canBeFile(name));
  const paths = shown.map(([folder, name]) =>
    folder !== "" && !name.replace(/\/+$/, "").includes("/") ? `${folder}/${name}` : name,
  );
  return [...new Set(paths)].slice(0, MAX_NAMES);
}

/** What a reading tool's argument may be: the person's own strings, and the names that were found. */
export function withFound(source: CopyableStrings, found: readonly string[]): CopyableStrings {
  const withThem = (own: readonly string[]) => [...new Set([...own, ...found])];
  return { ...source, names: withThem(source.names), files: withThem(source.files) };
}

/** What each line of a listing or a search begins with, and the folder that was listed, the newest result first. */
function linesOf(messages: readonly Message[], tools: readonly ListingTool[]): [folder: string, name: string][] {
  const isListing = ({ name, category }: ListingTool) => category === "read" && !partsOf(name).includes("read");
  const listing = new Set(tools.filter(isListing).map(({ name }) => name));
  return messages.toReversed().flatMap((message) => {
    if (message.role !== "tool" || message.result.outcome !== "ok" || !listing.has(message.call.name)) return [];
    const folder = folderOf(message);
    return message.result.content.split("\n").flatMap((line): [string, string][] => {
      const name = nameIn(line);
      return name === "" ? [] : [[folder, name]];
    });
  });
}

/** The name that a line begins with; empty where it begins with none. */
function nameIn(line: string): string {
  const spaced = SPACED.map((form) => form.exec(line)?.[1] ?? "").find((name) => name !== "");
  const bare = line.replace(/^- /, "");
  return spaced ?? (isSpacedName(bare) ? bare : (NAME.exec(bare)?.[0] ?? ""));
}

function folderOf({ call }: ToolMessage): string {
  const paths = Object.entries(call.arguments).flatMap(([name, value]) =>
    slotOf(name) === "path" && typeof value === "string" ? [value] : [],
  );
  const folder = paths.length === 1 ? (paths[0] as string).replace(/\/+$/, "") : "";
  return folder === "." ? "" : folder;
}

function canBeFile(name: string): boolean {
  return name.replace(/^\.+|\.+$/g, "").includes(".") && !name.endsWith("/") && !name.includes("://");
}

/** The name of a file, with its ending and without. */
export function spellings(path: string): string[] {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return [name, name.slice(0, Math.max(0, name.lastIndexOf("."))) || name];
}

/** Of several files the one whose name is what is looked for and nothing else; none where that is not one. */
export function calledSo(query: string, files: readonly string[]): readonly string[] {
  const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const called = files.filter((file) => lettersOf(spellings(file)[1] as string) === lettersOf(query));
  return called.length === 1 ? called : [];
}

/** Whether a tool of this name looks for something. */
export function isSearch(name: string): boolean {
  return partsOf(name).some((part) => SEARCHING.has(part));
}

/** Whether it looks for what means the same. */
export function isByMeaning(name: string): boolean {
  return isSearch(name) && partsOf(name).some((part) => MEANING.has(part));
}
