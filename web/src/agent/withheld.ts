import type { ToolDescriptor } from "../protocol/generated.ts";
import { copy } from "./copy.ts";
import { fill } from "./fill.ts";
import type { LaneInput, ProposedCall } from "./lane.ts";
import { partsOf, slotOf } from "./names.ts";
import { requiredOf } from "./render.ts";
import { longerName } from "./spaced-names.ts";
import { changedInside } from "./taken-back.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * Changes that a small model proposes and that the words of a wish speak against: what is not to be done, what is left out, and a
 * whole file where a part of it, or only its place, is to change. It is no protection, for which there is the gateway; it keeps a
 * person from being asked about what they have just ruled out.
 */

/** Why a call is not made, by the name of its sentence in copy.json. */
export type Withheld = "spared" | "overAll" | "listUntold" | "nameInDoubt" | "allDeleted";

type Tool = Pick<ToolDescriptor, "name" | "category" | "paramSchema">;

const ACTS = Object.entries(vocabulary.acts);
const VERBS = new Set(ACTS.flatMap(([act, { verbs }]) => (act === "read" ? [] : verbs)));
const PARTED = new RegExp(`[;!?\\n]|[.,:](?= )|\\b(?:but|just|instead|and(?= (?:${anyOf([...VERBS])})\\b))\\b`, "i");
const NEGATED = new RegExp(
  `(?<![\\w'’])(?:${anyOf(vocabulary.orderNegations)})(?: (?:ever|please|you))* ` +
    `(?!(?:${anyOf(vocabulary.unnegated)})\\b|need\\b(?! to\\b)|want\\b(?! (?:you )?to\\b))`,
  "i",
);
const LEFT_OUT = new RegExp(`\\b(?:${anyOf([...vocabulary.exceptingWords, ...vocabulary.sparingWords])})\\b`, "gi");
const STOPPED = /[;!?\n]|\.(?= )/;
const LEADS = `(?:(?:${anyOf(vocabulary.keptLeads)}|file) )*`;
const DENIED = new RegExp(`\\bnot ${LEADS}["'\`“]?$`, "i");
const IT = new Set(wishWords.pronouns);
const CARRIERS = new Set([...vocabulary.acts.move.calls, ...vocabulary.acts.copy.verbs]);
const WRITERS = new Set(["write", "save"]);
const WHOLE = new Set([...vocabulary.wholeNouns, "text"]);
const LEAD = `^(?:(?:${anyOf(vocabulary.fillers)}),? )*`;
const NAMED = ` ${LEADS}["'\`“]?`;
const PARTS = anyOf([...vocabulary.countedNouns.line, ...vocabulary.pickedNouns]);
const OUT_OF = new RegExp(
  `\\b(?:from|off|out of|(?:${PARTS}) (?:of|in))(?: (?:${anyOf(vocabulary.keptLeads)}))?(?: file)? ["'\`“]?$`,
  "i",
);
const OUT_OF_IT = new RegExp(
  `\\b(?:from|off|out of|(?:${PARTS}) (?:of|in)) (?:${anyOf([...wishWords.pronouns, "that", "this"])})\\b`,
  "i",
);
const ROWS = anyOf([vocabulary.countedNouns.line, vocabulary.countedNouns.row, vocabulary.countedNouns.word].flat());
const TELLING = anyOf([...wishWords.possessives, ...vocabulary.keptLeads, ...Object.keys(vocabulary.linePlaces)]);
/** A part of a file, which is no file: "delete its last line", and not "delete my word list". */
const PART_OF_IT = new RegExp(
  `\\b(?:${TELLING}) (?:[a-z]+ )?(?:${ROWS})\\b(?! (?:${anyOf(vocabulary.namedByParts)})\\b)`,
  "i",
);
const DISCARDING = anyOf([vocabulary.discardingVerbs, vocabulary.strikingVerbs, vocabulary.acts.delete.verbs].flat());
const DELETING = `\\b(?:${DISCARDING})`;
const WHOLE_FILES = anyOf([...vocabulary.wholeFiles, ...vocabulary.folderNouns]);
const TAILS = `(?:,? (?:${anyOf([...wishWords.tails, ...vocabulary.repeatingTails])}|[a-z]+ly)\\b)*`;
const PHRASE_END = `(?:${TAILS}(?:[.,;:!?]|\\s*$|\\n)| (?:and|then|but|because)\\b)`;
const BEFORE_PATH =
  `${DELETING} (?:\\S+(?:,|,? and) )*(?:(?:the|this|my) )?(?:(?:${WHOLE_FILES}) )?` +
  `(?:(?:called|named) )?["'\`“]?(?:\\S*/)?`;
const AFTER_PATH = `/?["'\`”]?(?:${PHRASE_END}| (?:${anyOf(vocabulary.linkWords)})\\b)`;
const DELETES = new RegExp(DELETING, "i");
const ALL_FILES = new RegExp(`${DELETING} all (?:(?:the|my) )?(?:[a-z]+ )?files${PHRASE_END}`, "i");
const PLACES = anyOf([...vocabulary.movingLinks, ...vocabulary.keepingLinks]);
/** Verbs of which a new text of a whole file is meant as well: "change it to bye". */
const ANEW = vocabulary.rewritingVerbs;
const SETTING = anyOf(vocabulary.settingVerbs.filter((verb) => !ANEW.includes(verb)));
const SETS_IT = new RegExp(`${LEAD}(?:${SETTING}) (?:${anyOf([...wishWords.pronouns, "that", "this"])})\\b`, "i");
const CHANGES = new RegExp(`${LEAD}(?:${anyOf(vocabulary.partVerbs)})\\b`, "i");

/** What a file says goes into a list that is not told by a name: "read a.txt and add its date to the list". */
const OF_IT = new RegExp(
  `\\b(?:${anyOf(vocabulary.enteringVerbs)}) (?:${anyOf(wishWords.possessives)}) [^.;!?\\n]+? (?:${anyOf(vocabulary.entryLinks)}) ` +
    `(?:${anyOf(vocabulary.keptLeads)}) (?:[a-z-]+ )?(?:${anyOf(vocabulary.entryLists)})\\b`,
  "i",
);

/**
 * What is said in the place of a change that the words of a wish, or what was done before it, speak against; null for any other call.
 */
export function withheldWords({ messages, tools }: LaneInput, wish: string, call: ProposedCall): string | null {
  const called = tools.filter(({ name }) => name === call.name);
  const paths = pathsIn(call.arguments);
  const isInside = (path: string) => !meansWhole(path, wish) && changedInside(path, messages, tools);
  const against = (tool: Tool) =>
    withheld(call.arguments, tool, wish) ??
    (tool.category === "destructive" && paths.some(isInside) ? "allDeleted" : null);
  const why = called.map(against).find((each) => each !== null);
  const [first = ""] = paths;
  const file = paths.find((path) => longerName(wish, path) !== null) ?? first;
  return why === undefined ? null : fill(copy[why], (key) => (key === "longer" ? `${longerName(wish, file)}` : file));
}

/** Why a call is not to be made for a wish; null where nothing speaks against it. */
export function withheld(given: Readonly<Record<string, unknown>>, tool: Tool, wish: string): Withheld | null {
  if (tool.category === "read") return null;
  const required = requiredOf(tool.paramSchema);
  const paths = pathsIn(given);
  if (isSpared(paths, tool, wish)) return "spared";
  if (paths.some((each) => longerName(wish, each) !== null)) return "nameInDoubt";
  if (tool.category === "destructive" && paths.some((each) => isTakenOutOf(each, wish))) return "allDeleted";
  const [path, ...others] = paths;
  if (path === undefined || others.length > 0) return null;
  if (required.length > 1 && OF_IT.test(wish) && placesOf(path, wish).length > 0) return "listUntold";
  const parts = partsOf(tool.name);
  const isWhole = parts.some((part) => WRITERS.has(part)) && required.length > 1;
  return isPlaced(path, wish, tool) || (isWhole && isPart(path, wish)) ? "overAll" : null;
}

function pathsIn(given: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(given).flatMap(([name, value]) =>
    slotOf(name) === "path" && typeof value === "string" && value !== "" ? [value] : [],
  );
}

/** Whether a wish says "not" of every place where it names one of these paths, or of all that it asks for. */
function isSpared(paths: readonly string[], tool: Tool, wish: string): boolean {
  const names = new Set(paths.flatMap((path) => [path, baseOf(path)]));
  const text = wish.replaceAll(QUOTED, (quoted) => (names.has(quoted.slice(1, -1)) ? quoted : " "));
  const clauses = text.split(PARTED).filter((clause) => wordsOf(clause).length > 0);
  if (clauses.some((clause) => !isNegated(clause) && isForIt(clause, tool))) return false;
  const named = paths.filter((path) => placesOf(path, text).length > 0);
  if (named.length === 0) return clauses.length > 0 && clauses.every(isNegated);
  return named.some((path) => {
    const own = clauses.filter((clause) => placesOf(path, clause).length > 0);
    return own.every(isNegated) || placesOf(path, text).every((at) => isLeftOut(text, at));
  });
}

/** Whether a clause asks of "it" what the tool does: "don't delete a.txt, just move it to c/". */
function isForIt(clause: string, tool: Tool): boolean {
  const words = wordsOf(clause).map(({ bare }) => bare);
  const parts = partsOf(tool.name);
  const does = ACTS.some(
    ([, { verbs, calls }]) => words.some((word) => verbs.includes(word)) && parts.some((part) => calls.includes(part)),
  );
  return does && words.some((word) => IT.has(word));
}

/** Where a text names a path: as it stands, or else by its last part, or else in other letters, small for large ones. */
function placesOf(path: string, text: string): number[] {
  const names = [path, baseOf(path)].filter((name) => name !== "").map(escaped);
  const found = ["g", "gi"].flatMap((flags) =>
    names.map((name) => [...text.matchAll(new RegExp(`(?<!\\w)${name}(?!\\w)`, flags))].map(({ index }) => index)),
  );
  return found.find((places) => places.length > 0) ?? [];
}

/**
 * Whether a wish has a whole file deleted: by its path, by its name before such a word as "file", or by such a word alone. What else
 * it has deleted is in the file, or in doubt.
 */
export function meansWhole(path: string, wish: string): boolean {
  const base = baseOf(path);
  const isPath = new RegExp(`${BEFORE_PATH}${escaped(base)}${AFTER_PATH}`, "i");
  if (placesOf(path, wish).length > 0 && (!DELETES.test(wish) || isPath.test(wish))) return true;
  const parts = (base.slice(0, Math.max(0, base.lastIndexOf("."))) || base).split(/[-_ ]+/);
  // "The shopping list" is shopping.txt, and shopping-list.txt.
  const isKind = parts.length > 1 && vocabulary.wholeFiles.includes(parts.at(-1) as string);
  const name = (isKind ? parts.slice(0, -1) : parts).map(escaped).join("[-_ ]");
  const called = `${DELETING} (?:the|this|my) (?:(?:whole|entire) )?(?:${name} )?(?:${WHOLE_FILES})${PHRASE_END}`;
  return new RegExp(called, "i").test(wish) || ALL_FILES.test(wish);
}

function baseOf(path: string): string {
  const bare = path.replace(/\/+$/, "");
  return bare.slice(bare.lastIndexOf("/") + 1);
}

export function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** Whether an order is given with a "not" before its verb. In "write I will not come" it is a part of the text. */
function isNegated(clause: string): boolean {
  const found = NEGATED.exec(clause);
  return found !== null && !wordsOf(clause.slice(0, found.index)).some(({ bare }) => VERBS.has(bare));
}

/** Whether what stands here is left out: "all but a.txt", "not a.txt". */
function isLeftOut(text: string, at: number): boolean {
  const before = text.slice(0, at).split(STOPPED).at(-1) as string;
  if (DENIED.test(before)) return true;
  const found = [...before.matchAll(LEFT_OUT)].at(-1);
  if (found === undefined) return false;
  return !wordsOf(before.slice(found.index + found[0].length)).some(({ bare }) => VERBS.has(bare));
}

/** Whether only a part of what would be deleted is to go: "remove the second one from it", "delete the last line of a.txt". */
function isTakenOutOf(path: string, wish: string): boolean {
  const [at] = placesOf(path, wish);
  const text = wish.replaceAll(QUOTED, " ");
  if (at === undefined) return OUT_OF_IT.test(text) || PART_OF_IT.test(text);
  return OUT_OF.test(wish.slice(0, at).split(STOPPED).at(-1) as string);
}

/** Whether a wish only says where a file goes into which a call would write: "put a.txt into b/". */
function isPlaced(path: string, wish: string, tool: Tool): boolean {
  const isWriting = tool.category === "write" && !partsOf(tool.name).some((part) => CARRIERS.has(part));
  const placed = `${LEAD}(?:${anyOf(vocabulary.placingVerbs)})${NAMED}${escaped(path)}["'\`”]? (?:${PLACES})\\b`;
  return isWriting && new RegExp(placed, "i").test(wish);
}

/** Whether a wish is for a change of something in a file: "set workers = 2 in app.toml". */
function isPart(path: string, wish: string): boolean {
  if (wordsOf(wish).some(({ bare }) => WHOLE.has(bare))) return false;
  const whole = new RegExp(`${LEAD}(?:${anyOf(vocabulary.partVerbs)})${NAMED}${escaped(path)}`, "i");
  const clauses = wish.split(PARTED).map((clause) => clause.trim());
  const named = clauses.filter((each) => placesOf(path, each).length > 0);
  // "Set it to 5" names no file, and is about no whole one.
  if (named.length === 0 && clauses.some((each) => SETS_IT.test(each))) return true;
  return named.some((each) => CHANGES.test(each) && !whole.test(each));
}
