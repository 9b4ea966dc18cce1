import type { ToolDescriptor } from "../protocol/generated.ts";
import { bareThing, isThing } from "./acts.ts";
import { WEAK_STEMS } from "./asked.ts";
import { claimWords } from "./claim-words.ts";
import { partsOf } from "./names.ts";
import { isObject } from "./parse.ts";
import { stem, termsIn } from "./ranking.ts";
import { requiredOf } from "./render.ts";
import { vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * The tools that a wish asks for by its words, where a small model answered it with a sentence instead.
 *
 * Asked "how much money went out this month?" or "cross out t1", a small model talks of it, with a tool for just that before it.
 * Such a wish is chosen for once more, among these tools and without an answer. What is chosen is a call like any other: it needs
 * its reason, and the gateway decides.
 */

type Known = Pick<ToolDescriptor, "name" | "description" | "paramSchema">;
type Schema = Readonly<Record<string, unknown>>;

/** Words for one thing: who begins with "note" may mean a tool that saves. */
const ALIKE = vocabulary.sameThings.map((group) => group.map(stem));

const GENERAL: ReadonlySet<string> = new Set(claimWords.explained);
/** Words after which "how" asks for a figure, or for what was done, and not how something is done. */
const MEASURED: ReadonlySet<string> = new Set([...vocabulary.measures, ...vocabulary.pastHelpers]);
const LEADING: ReadonlySet<string> = new Set([...wishWords.fillers, ...wishWords.joiners]);
const STATING: ReadonlySet<string> = new Set([...wishWords.beings, ...wishWords.asking]);

/** Words of a statement that asks to be kept: "I paid". */
const STATED = 2;
const NUMBERS: ReadonlySet<string> = new Set(
  Object.keys(vocabulary.numberWords).filter((word) => word !== "a" && word !== "an"),
);

/** A number as a word: 12.50, 20min. The one in `t1` is a part of a name. */
const FIGURE = /^[0-9][0-9.,]*[a-z%]{0,3}$/;

/** A pattern of letters, digits and classes of them, which both languages read alike and no text makes slow. */
const PLAIN_PATTERN = /^\^(?:(?:[A-Za-z0-9_-]|\[(?:A-Z|a-z|0-9|[A-Za-z0-9_])+\])(?:[+*]|\{[0-9]{1,2}\})?)+\$$/;
const MAX_LETTERS = 64;

/** A wish as words: in lower case and without what is quoted, all in lower case, and as they are written. */
interface Wish {
  readonly asked: readonly [string, ...string[]];
  readonly bare: readonly string[];
  readonly written: readonly string[];
}

/**
 * Those that need an argument, can take all of them from the wish, and of which it says a word: of their name, their description or
 * their choices, a verb like theirs, or a name of the form that they ask for. Of an order, as each of several wishes is one, where
 * it says no such word, those that take its number. None for a question about the world.
 */
export function toolsCalledFor<T extends Known>(wish: string, tools: readonly T[], isOrder: boolean): T[] {
  const words = wordsOf(wish);
  const [first, ...rest] = wordsOf(wish.replaceAll(QUOTED, " "))
    .map(({ bare }) => bare)
    .filter((word) => !LEADING.has(word));
  if (first === undefined || isGeneral(first, rest)) return [];
  const asked = [first, ...rest] as const;
  const said: Wish = {
    asked,
    bare: words.map(({ bare }) => bare),
    written: words.map(({ start, end }) => bareThing(wish.slice(start, end))),
  };
  const able = tools.filter((tool) => {
    const given = givenTo(tool, said);
    return given.length > 0 && !given.includes(false);
  });
  const named = able.filter((tool) => isNamed(tool, said));
  const isBare = FIGURE.test(first) && asked.every((word) => !STATING.has(word));
  const isTold = isOrder || isBare || wishWords.statements.includes(asked.slice(0, STATED).join(" "));
  return named.length > 0 ? named : able.filter((tool) => isTold && givenTo(tool, said).includes(true));
}

/** Whether a question is about the world, or about how something is done. */
function isGeneral(first: string, rest: readonly string[]): boolean {
  return GENERAL.has(first) && !(first === "how" && MEASURED.has(rest[0] ?? ""));
}

/** For each argument that a tool needs, whether the words hold a value for it. */
function givenTo(tool: Known, said: Wish): (boolean | null)[] {
  return neededBy(tool).map((schema) => isGiven(schema, said));
}

function neededBy({ paramSchema }: Known): Schema[] {
  const { properties } = paramSchema;
  const declared = isObject(properties) ? properties : {};
  return requiredOf(paramSchema).map((name) => {
    const schema = Object.hasOwn(declared, name) ? declared[name] : {};
    return isObject(schema) ? schema : {};
  });
}

/** Whether the words hold a value for an argument that only some words can be; null for one that any word can be. */
function isGiven(schema: Schema, said: Wish): boolean | null {
  const choices = choicesIn(schema).map((choice) => stem(choice.toLowerCase()));
  if (choices.length > 0) return said.bare.some((word) => choices.includes(stem(word)));
  if (schema.type === "number" || schema.type === "integer")
    return said.bare.some((word) => FIGURE.test(word) || NUMBERS.has(word));
  const form = formIn(schema);
  return form === null ? null : said.written.some((word) => word.length <= MAX_LETTERS && form.test(word));
}

/** Whether a wish says a word of a tool, or a name of a form that only it asks for. */
function isNamed(tool: Known, said: Wish): boolean {
  const telling = said.asked.flatMap((word) => (isThing(word) || WEAK_STEMS.has(stem(word)) ? [] : [stem(word)]));
  const own = ownWords(tool);
  const hasForm = neededBy(tool).some((schema) => formIn(schema) !== null && isGiven(schema, said) === true);
  return hasForm || telling.some((term) => own.has(term)) || isAlike(stem(said.asked[0]), tool);
}

function choicesIn({ enum: listed }: Schema): string[] {
  return Array.isArray(listed) ? listed.filter((each) => typeof each === "string") : [];
}

function formIn({ pattern }: Schema): RegExp | null {
  return typeof pattern === "string" && PLAIN_PATTERN.test(pattern) ? new RegExp(pattern) : null;
}

function isAlike(verb: string, tool: Known): boolean {
  const own = stem(partsOf(ownName(tool))[0] ?? "");
  return ALIKE.some((group) => group.includes(verb) && group.includes(own));
}

/** The words, as stems, that a tool says of itself. */
function ownWords(tool: Known): Set<string> {
  const texts = [tool.description, ...neededBy(tool).flatMap(choicesIn)].flatMap(termsIn);
  return new Set([...partsOf(ownName(tool)).map(stem), ...texts].filter((term) => !WEAK_STEMS.has(term)));
}

function ownName({ name }: Known): string {
  return name.slice(name.lastIndexOf("__") < 0 ? 0 : name.lastIndexOf("__") + 2);
}
