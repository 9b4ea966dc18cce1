import type { ToolDescriptor } from "../protocol/generated.ts";
import { isThing } from "./acts.ts";
import { isObject } from "./parse.ts";
import { requiredOf } from "./render.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wishWords } from "./wish-words.ts";
import { QUOTED, wordsOf } from "./words.ts";

/*
 * What speaks against a call that changes something, or of a tool that somebody brought: talk, a text that is only to be composed,
 * and a name that nobody said. A small model that is told "I love the song Yesterday" plays it, and where a host is missing it makes
 * one up.
 */

const LEADS = anyOf([...wishWords.fillers, ...wishWords.openers, ...vocabulary.fillers]);
const COMPOSES = new RegExp(
  `^(?:(?:${LEADS}),? )*(?:${anyOf(vocabulary.composingOrders)})` +
    `(?: (?:${anyOf(wishWords.sharing)}))?(?: (?:${anyOf(vocabulary.composedCounts)}))?` +
    `(?: [a-z-]+){0,3}? (?:${anyOf(vocabulary.composedTexts)})\\b`,
  "i",
);
const TELLERS: ReadonlySet<string> = new Set(vocabulary.tellers);
const TOLD_OF: ReadonlySet<string> = new Set(vocabulary.toldOf);
const BEINGS: ReadonlySet<string> = new Set(vocabulary.statingWords);
const PARTED = new RegExp(`[,.;!:\\n]| (?:${anyOf(vocabulary.sentenceJoins)}) `);
/** What a sentence does not hold that only tells: a figure, or a question. */
const ASKED = /[0-9?]/;
/** Words of a sentence within which it says what something is. */
const NEAR = 4;
/** Letters with which two words begin that are one name in two languages: Lisbon, Lisboa. */
const SAME_LETTERS = 4;
const LEAST = 3;
/** Words of a name. What is longer is a text, which a model may word. */
const MOST_WORDS = 3;

type Arguments = Readonly<Record<string, unknown>>;
type Schema = ToolDescriptor["paramSchema"];

/** Whether a wish is none for a tool. `hasCalled` says whether there was a call before, out of which a name may be. */
export function isUnasked(given: Arguments, paramSchema: Schema, wish: string, hasCalled: boolean): boolean {
  if (composes(wish) || onlyTells(wish)) return true;
  return (
    !hasCalled && requiredOf(paramSchema).some((name) => isInvented(given[name], declaredFor(paramSchema, name), wish))
  );
}

/** Whether it asks for a text that is kept nowhere: "write a poem about light in winter". */
function composes(wish: string): boolean {
  return !namesThing(wish) && COMPOSES.test(wish);
}

/** Whether it is a sentence about somebody or something, and asks for nothing: "I love the song Yesterday". */
function onlyTells(wish: string): boolean {
  const words = wordsOf(wish).map(({ bare }) => bare);
  const begins = words.slice(0, 2).join(" ");
  const isWish = words.some((word) => vocabulary.wantingWords.includes(word)) || wishWords.statements.includes(begins);
  if (namesThing(wish) || wish.search(QUOTED) >= 0 || isWish || ASKED.test(wish)) return false;
  const others = wish.split(PARTED).slice(1);
  if (others.some((part) => wishWords.imperatives.includes(wordsOf(part)[0]?.bare ?? ""))) return false;
  const first = words[0] ?? "";
  const isAbout = TOLD_OF.has(first) && words.slice(0, NEAR).some((word) => BEINGS.has(word));
  return vocabulary.praises.includes(begins) || TELLERS.has(first) || isAbout;
}

function namesThing(wish: string): boolean {
  return wordsOf(wish).some(({ start, end }) => isThing(wish.slice(start, end)));
}

function declaredFor(paramSchema: Schema, name: string): Arguments {
  const { properties } = paramSchema;
  const declared = isObject(properties) ? properties[name] : undefined;
  return isObject(declared) ? declared : {};
}

/**
 * Whether an argument is a name of which the wish says nothing. What has a form, or a choice, or a digit, may be said in other words:
 * a day, a currency.
 */
function isInvented(value: unknown, schema: Arguments, wish: string): boolean {
  if (typeof value !== "string" || ["enum", "pattern", "format"].some((each) => each in schema)) return false;
  const words = wordsOf(value).map(({ bare }) => bare);
  const isShort = words.length > 0 && words.length <= MOST_WORDS;
  const isCapitals = value === value.toUpperCase() && value !== value.toLowerCase();
  const said = wordsOf(wish).map(({ bare }) => bare);
  return isShort && !isCapitals && !/[0-9]/.test(value) && !words.some((word) => isSaid(word, said));
}

function isSaid(word: string, said: readonly string[]): boolean {
  const parts = said.filter((each) => each.length >= LEAST);
  const isPart = word.length >= LEAST && parts.some((each) => each.includes(word) || word.includes(each));
  return (
    said.includes(word) || isPart || parts.some((each) => each.slice(0, SAME_LETTERS) === word.slice(0, SAME_LETTERS))
  );
}
