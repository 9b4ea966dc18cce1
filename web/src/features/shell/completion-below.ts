import { type FolderEntry, MOST_SUGGESTED, type Suggestion, suggestPaths, UNSEEN, type Wanted } from "./completion.ts";

const MOST_LOOKED_THROUGH = 8;

/** The folders in a folder that are looked through for a name which is not in it: as many as are read in a moment. */
export function foldersBelow({ folder }: Extract<Wanted, { kind: "path" }>, entries: readonly FolderEntry[]): string[] {
  const shown = entries.filter(({ name, isFolder }) => isFolder && !UNSEEN.test(name) && !name.startsWith("."));
  return shown.slice(0, MOST_LOOKED_THROUGH).map(({ name }) => (folder === "." ? name : `${folder}/${name}`));
}

/** What is under such a name in one of those folders, each with the folder that it is in. */
export function suggestPathsBelow(
  wanted: Extract<Wanted, { kind: "path" }>,
  folders: readonly (readonly [string, readonly FolderEntry[]])[],
): Suggestion[] {
  const found = folders.flatMap(([folder, entries]) =>
    suggestPaths({ ...wanted, folder }, entries).map((each) => ({
      ...each,
      label: `${folder.split("/").at(-1)}/${each.label}`,
    })),
  );
  return found.slice(0, MOST_SUGGESTED);
}
