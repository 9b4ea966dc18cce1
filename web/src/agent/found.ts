import limits from "../../../loop/limits.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import type { CopyableStrings } from "./copied.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";

/*
 * Names of files that a listing or a search of this conversation showed. A tool that only reads may be given one of them. What
 * writes or deletes may not: there a name is the person's own, for a folder that others write to could hold any.
 */

/** More are a dump of a disk, and a grammar of them would take longer than the answer. */
const MAX_NAMES = limits.foundNames;

/** What a line of a listing or of a search begins with. */
const NAME = /^[^\t\r :"'`<>|]+/;

/**
 * The names at the beginnings of lines, the newest result first: as they stand, and inside the folder that was listed. Not those
 * in what a reading tool gave: a file could name any other.
 */
export function foundNames(
  messages: readonly Message[],
  tools: readonly Pick<ToolDescriptor, "name" | "category">[],
): string[] {
  const isListing = ({ name, category }: Pick<ToolDescriptor, "name" | "category">) =>
    category === "read" && !partsOf(name).includes("read");
  const listing = new Set(tools.filter(isListing).map(({ name }) => name));
  const names = new Set<string>();
  for (const message of messages.toReversed()) {
    if (message.role !== "tool" || message.result.outcome !== "ok" || !listing.has(message.call.name)) continue;
    const folder = folderOf(message);
    for (const line of message.result.content.split("\n")) {
      const name = NAME.exec(line.replace(/^- /, ""))?.[0] ?? "";
      if (!canBeFile(name)) continue;
      names.add(name);
      if (folder !== "" && !name.includes("/")) names.add(`${folder}/${name}`);
    }
  }
  return [...names].slice(0, MAX_NAMES);
}

/** What a reading tool's argument may be: the person's own strings, and the names that were found. */
export function withFound({ names, files, urls }: CopyableStrings, found: readonly string[]): CopyableStrings {
  return { names: [...new Set([...names, ...found])], files: [...new Set([...files, ...found])], urls };
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
