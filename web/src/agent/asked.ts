import type { ToolDescriptor } from "../protocol/generated.ts";
import { ACTS, bareThing, isThing } from "./acts.ts";
import { mayBeOwn, ownQueries } from "./affairs.ts";
import { EXAMPLES } from "./candidates.ts";
import { pointsBack } from "./copied.ts";
import { asksHow, asksWhat } from "./general.ts";
import { partsOf, slotOf } from "./names.ts";
import { isObject } from "./parse.ts";
import { isPassedOver } from "./passed-over.ts";
import { stem, termsIn } from "./ranking.ts";
import { requiredOf } from "./render.ts";
import { isUnasked } from "./unasked.ts";
import { vocabulary } from "./vocabulary.ts";
import { QUOTED, type Word, wordsOf } from "./words.ts";

/*
 * Whether a call has a reason in what the person said: the gate before a small model's choice becomes a call.
 *
 * Asked for a poem, a small model calls a tool now and then. A reason is a name that the person wrote, a word that the tool is
 * known by, or a word that goes back to an earlier call. It is no protection, for which there is the gateway; it keeps a model from
 * doing things that nobody wanted. In doubt a call is let through: one too many costs a look, one too few the answer.
 */

type Arguments = Readonly<Record<string, unknown>>;
type Known = Pick<ToolDescriptor, "name" | "description" | "category" | "paramSchema">;

/** Words for one thing: who says one of them may mean a tool that is known by another. */
const GROUPS = vocabulary.sameThings.map((group) => group.map(stem));

/** Words that are said of everything, and tell nothing of a tool by themselves. */
const WEAK_WORDS: ReadonlySet<string> = new Set([
  ...vocabulary.weakWords,
  ...vocabulary.askingWords,
  ...vocabulary.fillers,
  ...vocabulary.cues,
  ...Object.keys(vocabulary.numberWords),
]);
const AGAIN: readonly string[] = ["again", "same"];
export const WEAK_STEMS: ReadonlySet<string> = new Set([...WEAK_WORDS].map(stem));

/** What is no reason in a question what something is: "what is the best way to search text". */
const VERBS: ReadonlySet<string> = new Set([
  ...GROUPS.filter((group) => group.includes(stem(vocabulary.searchVerbs[0] as string))).flat(),
  ...ACTS.flatMap(([, { verbs }]) => verbs.map(stem)),
]);

/** A message of so few words is all about its verb: "list", "show it". */
const FEW = 2;
/** After these words a verb is a noun. */
const ARTICLES: ReadonlySet<string> = new Set(["a", "an"]);

const MOVING = vocabulary.acts.move.calls;
const AMOUNTS: ReadonlySet<string> = new Set(vocabulary.amountArguments);
const NUMBERS: ReadonlySet<string> = new Set(
  Object.keys(vocabulary.numberWords).filter((word) => word !== "a" && word !== "an"),
);
/** How words for higher numbers end. */
const COUNTING = /(?:teen|ty|hundred|thousand|dozen)$/;
const ZEROS = /\.0+$|(?<=\.[1-9])0+$|(?<=\.[0-9][1-9])0+$/;
const FOLDER = /([A-Za-z0-9_.-]+)\/(?=[\s,;.?!"'`)]|$)/g;

/**
 * Whether a call would delete or move what another wish of the message names, and this one does not: of "read a.txt and delete the
 * gym note" a small model deletes `a.txt`.
 */
export function isOfAnother(given: Arguments, tool: Known, wish: string, actions: readonly string[]): boolean {
  const takes = tool.category === "destructive" || partsOf(tool.name).some((part) => MOVING.includes(part));
  const paths = Object.entries(given).flatMap(([name, value]) =>
    slotOf(name) === "path" && typeof value === "string" ? [value] : [],
  );
  if (tool.category === "destructive" && paths.some((path) => isPassedOver(path, wish))) return true;
  if (!takes || pointsBack(wish)) return false;
  return paths.some((path) => !wish.includes(path) && actions.some((other) => other.includes(path)));
}

/**
 * Whether `message` gives a reason for a call of this tool. `hasCalled`: there was a call before that the person may go back to;
 * `wish` is the one of its wishes under way.
 */
export function isAskedFor(
  given: Arguments,
  tool: Known,
  message: string,
  hasCalled: boolean,
  wish: string = message,
): boolean {
  const isHow = asksHow(wish);
  if (tool.category !== "read" && (isHow || inventsAmount(given, wish) || saysOwnName(given, wish))) return false;
  const isOwn = tool.category === "read" && EXAMPLES.has(tool.name);
  if (!isOwn && isUnasked(given, tool.paramSchema, message, hasCalled)) return false;
  const bare = wordsOf(message).map((word) => word.bare);
  const isAbout = pointsAtThing(tool);
  // To what is about nothing that is named to it, nobody goes back but to have it again.
  if (hasCalled && bare.some((word) => (isAbout ? vocabulary.fileReferences : AGAIN).includes(word))) return true;
  const values = Object.values(given).map(textOf);
  if (namesThing(values, message)) return true;
  // A call without what it needs runs nothing, and the gateway says what is missing.
  if (requiredOf(tool.paramSchema).some((name) => !Object.hasOwn(given, name))) return true;
  const said = new Set(wordsIn(message.replaceAll(QUOTED, " ")).map(stem));
  // "Read the second one" is no reason to read what has been done.
  if (tool.category === "read" && !isAbout) for (const verb of VERBS) said.delete(verb);
  const common = [...knownBy(tool, EXAMPLES.get(tool.name) ?? [])].filter((term) => said.has(term));
  const pointed = Object.keys(given).find((name) => ["path", "url"].includes(slotOf(name) ?? ""));
  const place = pointed === undefined ? null : textOf(given[pointed]);
  if (place !== null && !isHow && isNamed(place, message)) return true;
  if (tool.category === "read") {
    const isPlaced = bare.some((word) => vocabulary.places.includes(word));
    if (!EXAMPLES.has(tool.name) || isPlaced) return mayLook(given, tool, message, said, common);
    if (isHow) return mayLook(given, tool, message, new Set(), []);
    const telling = common.filter((term) => !(asksWhat(wish) && VERBS.has(term)));
    return mayLook(given, tool, message, said, telling);
  }
  if (place === null) return common.length > 0 || copies(values, said);
  return bare.includes(barePath(place).toLowerCase()) && common.some((term) => !WEAK_STEMS.has(term));
}

/** Whether a tool is about something that is named to it, to which a person may go back. */
function pointsAtThing({ paramSchema }: Known): boolean {
  const declared = isObject(paramSchema.properties) ? Object.keys(paramSchema.properties) : [];
  return requiredOf(paramSchema).length > 0 || declared.some((name) => slotOf(name) !== null);
}

/** Whether a call has an amount of money where the wish says no number at all, and goes back to none. */
function inventsAmount(given: Arguments, wish: string): boolean {
  const amounts = Object.entries(given).filter(
    ([name, value]) => typeof value === "number" && partsOf(name).some((part) => AMOUNTS.has(part)),
  );
  const words = wordsOf(wish).map(({ bare }) => bare);
  const isCounted = words.some((word) => /[0-9]/.test(word) || COUNTING.test(word) || NUMBERS.has(word));
  return amounts.length > 0 && !isCounted && !words.some((word) => vocabulary.fileReferences.includes(word));
}

/**
 * Whether a call writes into a file no more than the name of that file, which nobody quoted: what a small model makes of a wish that
 * it has no tool for.
 */
function saysOwnName(given: Arguments, wish: string): boolean {
  const paths = Object.entries(given).flatMap(([name, value]) => (slotOf(name) === "path" ? [value] : []));
  const texts = Object.entries(given).flatMap(([name, value]) => (slotOf(name) === "path" ? [] : [value]));
  const quoted = new Set<unknown>(wish.match(QUOTED)?.map((each) => each.slice(1, -1)));
  const named = new Set(
    wordsOf(wish).flatMap(({ start, end }) =>
      isThing(wish.slice(start, end)) ? [bareThing(wish.slice(start, end))] : [],
    ),
  );
  // With one name it is what goes into that file, with the words around it.
  const own = named.size > paths.length && paths.length > 0 ? [...paths, wish.trim()] : paths;
  return texts.length > 0 && texts.every((text) => own.includes(text) && !quoted.has(text));
}

/** The words, as stems, by which a person may mean a tool. */
export function knownBy(tool: Known, examples: readonly string[]): Set<string> {
  const declared = tool.paramSchema.properties;
  const properties = Object.entries(isObject(declared) ? declared : {}).flatMap(([name, each]) =>
    isObject(each) ? [{ name, each }] : [],
  );
  const own = new Set([...partsOf(tool.name), ...properties.flatMap(({ name }) => partsOf(name))].map(stem));
  const texts = [
    tool.description,
    ...properties.map(({ each }) => textOf(each.description ?? "")),
    ...examples.map((example) => example.replaceAll(QUOTED, " ")),
    ...properties.map(({ each }) => JSON.stringify(each.enum ?? [])),
  ];
  const wider = GROUPS.filter((group) => group.some((term) => own.has(term))).flat();
  return new Set([...own, ...wider, ...texts.flatMap(termsIn)]);
}

function mayLook(
  given: Arguments,
  tool: Known,
  message: string,
  said: ReadonlySet<string>,
  common: readonly string[],
): boolean {
  const bare = wordsOf(message).map((word) => word.bare);
  if (common.length > 1 || common.some((term) => !WEAK_STEMS.has(term))) return true;
  if (common.length > 0 && bare.length <= FEW) return true;
  const paths = Object.entries(given).flatMap(([name, value]) => (slotOf(name) === "path" ? [textOf(value)] : []));
  const isPlaced = bare.some((word) => vocabulary.places.includes(word));
  // "A function that reverses a list" asks for no list.
  const nouns = new Set(bare.flatMap((word, at) => (ARTICLES.has(bare[at - 1] ?? "") ? [stem(word)] : [])));
  const isTold = common.some((term) => !nouns.has(term)) && isSaid(paths, bare);
  if (isTold || (common.length > 0 && isPlaced)) return true;
  const values = Object.values(given).map(textOf);
  if (copies(values, said) && bare.some((word, at) => isPlacedAt(bare, at) && vocabulary.places.includes(word)))
    return true;
  const isOwn = bare.some((word) => vocabulary.owners.includes(word)) || ownQueries(message).length > 0;
  if (isOwn && Object.keys(given).some((name) => slotOf(name) === "query")) return true;
  if (mayBeOwn(message) && copies(values, said) && Object.keys(given).some((name) => slotOf(name) === "query"))
    return true;
  // A tool that somebody brought may be known by words that stand nowhere; what it is asked about is the only trace.
  return !EXAMPLES.has(tool.name) && copies(values, said);
}

/** Whether the word before says where something is: "in here". */
function isPlacedAt(bare: readonly string[], at: number): boolean {
  return vocabulary.insideWords.includes(bare[at - 1] ?? "");
}

/** The words of a text that are no names of things. */
function wordsIn(text: string): string[] {
  return wordsOf(text).flatMap(({ start, end, bare }) => (isThing(text.slice(start, end)) ? [] : [bare]));
}

/** Whether a value is the name of a thing, or a figure, that stands in the message. */
function namesThing(values: readonly string[], message: string): boolean {
  const written = wordsOf(message).map(({ start, end }) => barePath(bareThing(message.slice(start, end))));
  const named = new Set([...written.filter(isThing), ...written.flatMap(figureIn)]);
  for (const [, folder] of message.matchAll(FOLDER)) named.add(folder as string);
  for (const [quoted] of message.matchAll(QUOTED)) named.add(quoted.slice(1, -1));
  return values.some((text) => named.has(text) || named.has(barePath(text)));
}

/** The number that a word holds, as JSON writes it: 12.5 of "€12.50". */
function figureIn(text: string): string[] {
  const found = /[0-9]+(?:\.[0-9]+)?/.exec(text);
  return found === null ? [] : [found[0].replace(ZEROS, "")];
}

function barePath(text: string): string {
  return text.replace(/^\.\//, "").replace(/\/$/, "");
}

/** Whether one of them is a word of the message, such as a folder's name. */
function isSaid(texts: readonly string[], bare: readonly string[]): boolean {
  const said = texts.map((text) => barePath(text).toLowerCase());
  return said.some((text) => bare.includes(text) && !WEAK_WORDS.has(text));
}

/** Whether a word of the message names a file, though it does not look like one: "save it to LICENSE". */
function isNamed(path: string, message: string): boolean {
  const said = wordsOf(message);
  return said.some(
    ({ start, end }, at) =>
      at > 0 &&
      vocabulary.namingWords.includes((said[at - 1] as Word).bare) &&
      bareThing(message.slice(start, end)) === path,
  );
}

/** Whether an argument repeats a word of the message that tells something, or a name with a mark in it: "nas-2". */
function copies(values: readonly string[], said: ReadonlySet<string>): boolean {
  return values.some((value) =>
    [...termsIn(value), stem(value.toLowerCase())].some((term) => !WEAK_STEMS.has(term) && said.has(term)),
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Whether a word of the wish is one by which a tool is known that needs neither a file, a page nor something to look for. */
export function isForAnother(wish: string, tools: readonly Known[]): boolean {
  const said = termsIn(wish).filter((term) => !WEAK_STEMS.has(term));
  const others = tools.filter(({ paramSchema }) => requiredOf(paramSchema).every((name) => slotOf(name) === null));
  return others.some((tool) => {
    const known = knownBy(tool, []);
    return said.some((term) => known.has(term));
  });
}
