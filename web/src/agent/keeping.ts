import type { ToolDescriptor } from "../protocol/generated.ts";
import { ableTo, type Carrying, carried } from "./carrying.ts";
import { foundFiles, searcherAmong } from "./further.ts";
import type { ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { partsOf, slotOf } from "./names.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { escaped } from "./withheld.ts";
import { QUOTED, wordsOf } from "./words.ts";

/* What goes into a file that may be there already: it is added at its end, and nothing is written over. */

type Tools = readonly (Pick<ToolDescriptor, "name" | "category" | "description" | "paramSchema"> &
  Partial<Pick<ToolDescriptor, "permission">>)[];

const ENDED = new RegExp(`\\b(?:${anyOf(vocabulary.endPlaces)})\\b`, "i");
/**
 * Words of a wish for which a file may be written anew. Whatever else is said of a text that goes into a file, the file keeps what it
 * has.
 */
const WHOLE = new RegExp(`\\b(?:${anyOf(vocabulary.wholeVerbs)})\\b|\\bput\\b(?!.* (?:on|onto) )`, "i");
const LEADS = `(?:${anyOf(vocabulary.entryLinks)}|under|at)(?: [^ ]+){0,3}? ["'\`]?`;
const WRITERS = new Set(["write", "save"]);
const REPLACING = new Set(["overwrite", "overwriting", "replace", "replacing"]);

/**
 * A call that would write all of a file as one that adds to it, where the words of a wish ask for no more, such as "put milk on
 * a.txt". A file that is not there is made by it, too.
 */
export function asAddition(call: ProposedCall, wish: string, tools: Tools): ProposedCall {
  const adder = ableTo("add", tools);
  const given = Object.entries(call.arguments);
  const [path, ...paths] = given.flatMap(([name, value]) => (slotOf(name) === "path" ? [value] : []));
  const [other, ...others] = given.flatMap(([name, value]) => (slotOf(name) === "path" ? [] : [value]));
  const isWhole = partsOf(call.name).some((part) => WRITERS.has(part)) && path !== undefined && other !== undefined;
  const said = wish.replaceAll(QUOTED, " ");
  const isOther = wordsOf(said).some(({ bare }) => REPLACING.has(bare) || bare === "from" || bare === "instead");
  if (adder === null || !isWhole || paths.length + others.length > 0 || isOther) return call;
  const isPlaced = new RegExp(`\\b${LEADS}${escaped(String(path))}(?!\\w)`, "i").test(wish);
  if (!ENDED.test(said) && (WHOLE.test(said) || !isPlaced)) return call;
  return { name: adder.tool, arguments: { [adder.path]: path, [adder.rest]: other } };
}

/**
 * The second half of a wish with what was found as its data; before it would write a file, the search that tells whether it is
 * there, where that runs without a question. `calls` are those of the wish so far.
 */
export function keptCall(
  carrying: Carrying,
  value: string,
  wish: string,
  calls: readonly ToolMessage[],
  tools: Tools,
): ProposedCall {
  const call = carried(carrying, value);
  const look = lookFor(carrying, tools);
  const { adder, rest } = carrying;
  const { carry, target } = carrying.wish;
  const isReplaced = wordsOf(wish).some(({ bare }) => REPLACING.has(bare));
  if (carry !== "keep" || adder === null || look === null || isReplaced) return call;
  const looked = calls.find((each) => isSame(each, look));
  if (looked === undefined) return look;
  if (!foundFiles(looked, tools).includes(target.replace(/^\.\//, ""))) return call;
  return { name: adder.tool, arguments: { [adder.path]: target, [adder.rest]: call.arguments[rest] } };
}

/** The calls without the search for the file in which something is kept. */
export function withoutLook(carrying: Carrying, calls: readonly ToolMessage[], tools: Tools): readonly ToolMessage[] {
  const look = lookFor(carrying, tools);
  return look === null ? calls : calls.filter((each) => !isSame(each, look));
}

/** The search for the name of that file. */
function lookFor({ wish }: Carrying, tools: Tools): ProposedCall | null {
  const searcher = searcherAmong(
    tools.filter(({ description, permission }) => description.includes("*") && permission === "auto"),
  );
  const name = wish.target.slice(wish.target.lastIndexOf("/") + 1);
  return searcher === null || name === ""
    ? null
    : { name: searcher.name, arguments: { [searcher.argument]: `*${name}*` } };
}

function isSame({ call }: ToolMessage, other: ProposedCall): boolean {
  const [given, wanted] = [Object.entries(call.arguments), Object.entries(other.arguments)];
  return (
    call.name === other.name &&
    given.length === wanted.length &&
    wanted.every(([name, value]) => call.arguments[name] === value)
  );
}
