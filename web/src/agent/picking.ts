import { foldersSaid } from "./copied.ts";
import { folderIn } from "./finding.ts";
import type { ToolMessage } from "./messages.ts";
import { slotOf } from "./names.ts";
import { type Table, tableOf } from "./tables.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Which file of a folder a wish means by how it stands among the others: the newest, the largest, the first, the only one.
 */

export type FilePick = keyof typeof vocabulary.picks;
export const PICK_OF: ReadonlyMap<string, FilePick> = new Map(
  (Object.entries(vocabulary.picks) as [FilePick, readonly string[]][]).flatMap(([pick, words]) =>
    words.map((word) => [word, pick] as const),
  ),
);
/** What has a folder of one of several names where there is more than one of it: letters are in `letters/` or in `mail/`. */
export const KINDS: ReadonlySet<string> = new Set(
  Object.keys(vocabulary.kindFolders).flatMap((kind) => [kind, `${kind}s`]),
);
/** The folder that holds all others. */
export const TOP = ".";
const WORLD: ReadonlySet<string> = new Set(vocabulary.worldNouns);
const PICKED = anyOf([...vocabulary.documentNouns, ...vocabulary.pickedNouns, ...KINDS]);
const PICK = new RegExp(`\\b(${anyOf([...PICK_OF.keys()])}) (?:\\w+ )?(?:${PICKED})\\b`, "i");
/** The same where the pick stands behind: "which report comes last". */
const COMES = new RegExp(
  `\\b(?:${anyOf([...vocabulary.documentNouns, ...KINDS])}) (?:comes|is|came) (?:the )?(${anyOf([...PICK_OF.keys()])})\\b`,
  "i",
);
const OF_KIND = new RegExp(
  `\\bof (?:${anyOf(vocabulary.pluralArticles)}) (?:\\w+ )?(?:${anyOf(vocabulary.documentNouns)})\\b`,
  "i",
);
const ANYWHERE: ReadonlySet<string> = new Set(vocabulary.describedNouns.flatMap((word) => [word, `${word}s`]));
/** What has a folder of its own where there is more than one. */
const KEPT_TOGETHER: ReadonlySet<string> = new Set(vocabulary.documentNouns.filter((word) => !ANYWHERE.has(word)));
const SAYS = new RegExp(`\\b(?:${anyOf(vocabulary.contentVerbs)})\\b`, "i");
const NUMBERED = /^(.*?)([0-9]{1,9})([^0-9]*)$/s;
/** Picks by age, and whether they mean the newest. "First" and "last" mean a place in the list where no age can be told. */
const IN_TIME: ReadonlyMap<FilePick, boolean> = new Map([
  ["newest", true],
  ["last", true],
  ["oldest", false],
  ["first", false],
]);
const ASKS = /^(?:how much|who|when|what (?:did|have|had) \w+)\b/i;
const SHOWS = new RegExp(
  `^(?:(?:${anyOf(vocabulary.fillers)}),? )*(?:${anyOf([...vocabulary.openingVerbs, ...vocabulary.viewingVerbs])})\\b`,
  "i",
);
const FROM = /\b(?:from|by) (?:(?:the|my|our) )?([a-z0-9-]+)/i;
const DAY_MONTH = /(?<![0-9])([0-3][0-9])-([0-3][0-9])(?![0-9])/;
const LAST_MONTH = "12";
const DAY = /(?<![0-9])[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?(?![0-9])/;

/**
 * The path of the file that a wish, which `pickedFrom` knows, means by how it stands among those of a listing; null where the
 * listing leaves a doubt.
 */
export function pickOf(wish: string, listing: ToolMessage): string | null {
  return pickedOf(pickIn(wish) as FilePick, wish, listing);
}

/** The path of the file that stands so among those of a listing that the wish can mean; null where that leaves a doubt. */
export function pickedOf(pick: FilePick, wish: string, listing: ToolMessage): string | null {
  const table = tableOf(listing.result.content, "");
  if (table?.listing !== true) return null;
  // At the top there are files of all kinds, and beside pictures a list of them.
  const kind = topKind(wish, listing);
  const endings = vocabulary.pictureKinds.includes(kindIn(wish)) ? vocabulary.pictureEndings : [""];
  const named = filesOf(table).filter((file) => {
    const lowered = file.name.toLowerCase();
    return lowered.includes(kind) && endings.some((ending) => lowered.endsWith(ending));
  });
  // "The latest mail from the bank" is among those that have the bank in their names.
  const sender = folderIn(wish) === "" && foldersSaid(wish).length === 0 ? FROM.exec(wish)?.[1] : undefined;
  const sent = named.filter(({ name }) => name.toLowerCase().includes(sender?.toLowerCase() ?? ""));
  const name = chosen(pick, sent);
  return name === null ? null : joined(listing, name);
}

/** The kind of file that is picked among, where a listing is of all folders; empty for any other. */
export function topKind(wish: string, { call }: ToolMessage): string {
  const given = Object.entries(call.arguments).find(([argument]) => slotOf(argument) === "path")?.[1];
  return given === TOP ? kindIn(wish) : "";
}

/** The folder among all folders that keeps the files of the kind which is picked among; empty where there is none. */
export function kindFolder(wish: string, listing: ToolMessage): string {
  const rows = tableOf(listing.result.content, "")?.rows ?? [];
  const there = new Map(
    rows.flatMap(({ cells: [name = "", kind] }) => (kind === "folder" ? [[name.toLowerCase(), name] as const] : [])),
  );
  const names = vocabulary.kindFolders[topKind(wish, listing)] ?? [];
  return names.flatMap((name) => there.get(name) ?? [])[0] ?? "";
}

/** The folder out of which a wish means one file, to be told what it says; null for any other wish. */
export function pickedFrom(wish: string): string | null {
  const isOfKind = kindIn(wish) !== "" && (ASKS.test(wish) || SHOWS.test(wish));
  if (pickIn(wish) === null || !(SAYS.test(wish) || isOfKind)) return null;
  const [said, ...more] = foldersSaid(wish).filter((each) => !PICK_OF.has(each.toLowerCase()));
  const named = said === undefined || more.length > 0 ? "" : said.replace(/\/+$/, "");
  return folderIn(wish) || named || folderOfKind(wish) || (kindIn(wish) === "" ? null : TOP);
}

/** A wish without the words that only tell which file it means: "the largest file" asks for no number out of it. */
export function withoutPick(wish: string): string {
  return pickedFrom(wish) === null ? wish : wish.replace(PICK, "");
}

/**
 * The folder that has its name from what is picked among: "the newest report" is in `reports`. Empty for what may be anywhere, such
 * as a file or a letter.
 */
export function folderOfKind(wish: string): string {
  const [found = ""] = PICK.exec(wish) ?? COMES.exec(wish) ?? OF_KIND.exec(wish) ?? [];
  const kind = wordsOf(found).find(({ bare }) => KEPT_TOGETHER.has(bare))?.bare;
  return kind === undefined ? "" : `${kind.replace(/s$/, "")}s`;
}

/**
 * The kind of file that is picked among, where its folder may have one of several names: "the newest letter" may be in `letters`, or
 * in `mail`. Empty for any other, for "the last ten minutes", and for the last letter of a word.
 */
export function kindIn(wish: string): string {
  const [found = ""] = PICK.exec(wish) ?? COMES.exec(wish) ?? [];
  const words = wordsOf(found).map(({ bare }) => bare);
  const isOther = words.some((word) => /^[0-9]+$/.test(word)) || wordsOf(wish).some(({ bare }) => WORLD.has(bare));
  return (isOther ? undefined : words.find((word) => KINDS.has(word)))?.replace(/s$/, "") ?? "";
}

function pickIn(wish: string): FilePick | null {
  const said = PICK.exec(wish)?.[1] ?? COMES.exec(wish)?.[1] ?? "";
  return PICK_OF.get(said.toLowerCase()) ?? null;
}

interface ListedFile {
  readonly name: string;
  readonly size: number;
}

/** The files of a listing. */
export function filesOf({ rows }: Table): ListedFile[] {
  return rows.flatMap(({ cells: [name = "", kind, size = ""] }) =>
    kind === "file" ? [{ name, size: size === "" ? -1 : Number.parseInt(size, 10) }] : [],
  );
}

function chosen(pick: FilePick, files: readonly ListedFile[]): string | null {
  if (pick === "only") return one(files);
  const isNewest = IN_TIME.get(pick);
  if (isNewest !== undefined) {
    const ages = agesOf(files.map(({ name }) => name));
    if (ages.length === 0 && pick === "first") return files[0]?.name ?? null;
    if (ages.length === 0 && pick === "last") return files.at(-1)?.name ?? null;
    const best = isNewest ? ages.toSorted().at(-1) : ages.toSorted()[0];
    return ages.length === 0 ? null : one(files.filter((_, at) => ages[at] === best));
  }
  const sizes = files.map(({ size }) => size);
  const best = pick === "largest" ? Math.max(...sizes) : Math.min(...sizes);
  return Math.min(...sizes) < 0 ? null : one(files.filter(({ size }) => size === best));
}

/**
 * The paths by their age, those first that the pick means, which is the oldest or the newest; none where a doubt is left.
 */
export function byAge(pick: FilePick, paths: readonly string[]): string[] {
  const ages = agesOf(paths.map((path) => path.slice(path.lastIndexOf("/") + 1)));
  if (new Set(ages).size < paths.length) return [];
  const aged = paths.map((path, at) => ({ path, age: ages[at] as string }));
  const ranked = aged.toSorted((one, other) => (one.age < other.age ? -1 : 1)).map(({ path }) => path);
  return IN_TIME.get(pick) === true ? ranked.toReversed() : ranked;
}

/**
 * What tells which of several names is the newer one, in the order of texts: their days, or the numbers in which alone they differ;
 * nothing where neither does.
 */
function agesOf(names: readonly string[]): string[] {
  const days = names.map((name) => DAY.exec(name)?.[0] ?? "");
  if (!days.includes("")) return days;
  const pairs = names.flatMap((name) => {
    const [, day = "", month = ""] = DAY_MONTH.exec(name) ?? [];
    return day !== "00" && month >= "01" && month <= LAST_MONTH ? [`${month}-${day}`] : [];
  });
  if (pairs.length === names.length) return pairs;
  const numbered = names.map((name) => NUMBERED.exec(name));
  const frames = new Set(numbered.map((found) => (found === null ? null : `${found[1]}\n${found[3]}`)));
  if (frames.size !== 1 || frames.has(null)) return [];
  return numbered.map((found) => String(found?.[2]).padStart(9, "0"));
}

function one([file, ...more]: readonly ListedFile[]): string | null {
  return file === undefined || more.length > 0 ? null : file.name;
}

/** The path of a name in the folder that was listed. */
export function joined({ call }: ToolMessage, name: string): string {
  const given = Object.entries(call.arguments).find(([argument]) => slotOf(argument) === "path")?.[1] ?? ".";
  const folder = String(given).replace(/\/+$/, "");
  return folder === "" || folder === "." ? name : `${folder}/${name}`;
}
