import { bareThing, isThing } from "./acts.ts";
import { folderIn } from "./finding.ts";
import { partsOf, slotOf } from "./names.ts";
import { isObject } from "./parse.ts";
import { stem, termsIn } from "./ranking.ts";
import { requiredOf } from "./render.ts";
import { vocabulary } from "./vocabulary.ts";
import { QUOTED, type Word, wordsOf } from "./words.ts";

/*
 * Optional arguments that a wish speaks of, with the values that it gives them. Offered an argument that nobody asked for, a small
 * model fills it with anything. So a tool's optional argument is offered only where the wish names it, by a word of its name or
 * its description, and then with what the wish says and nothing else.
 */

type Value = string | number | boolean;
type Schema = Readonly<Record<string, unknown>>;
type Words = ReadonlySet<string>;

/** Words between an argument's name and its number. */
const NEAR = 2;
/** Parts of names that are filled from the person's words afterwards. */
const FILLED: Words = new Set([...vocabulary.dayArguments, ...vocabulary.amountArguments, "currency"]);
const LIMITS: Words = new Set(vocabulary.limitArguments);
const LIMITING: Words = new Set(vocabulary.limitingWords.map(stem));
const NEGATIONS: Words = new Set(vocabulary.negations);
const UNTELLING: Words = new Set(vocabulary.untellingWords.map(stem));
const JOINING: Words = new Set([...vocabulary.commonTerms, ...vocabulary.fillers, "as"]);
const NUMBER_WORDS: ReadonlyMap<string, number> = new Map(Object.entries(vocabulary.numberWords));

/**
 * The values that a wish gives to optional arguments of a tool's schema, by their names, in the schema's order. Words of the
 * tool's own name in a description tell nothing: "make" of `make_backup` asks for a backup, and not to make it smaller.
 */
export function spokenArguments(schema: Schema, wish: string, tool = ""): Record<string, Value> {
  const called: Words = new Set(partsOf(tool).map(stem));
  const needed = requiredOf(schema);
  const words = wordsOf(wish);
  const said = Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, member]) => {
    if (needed.includes(name) || !isObject(member) || partsOf(name).some((part) => FILLED.has(part))) return [];
    const value = spoken(name, member, wish, words, called);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(said);
}

function spoken(name: string, schema: Schema, wish: string, words: readonly Word[], called: Words): Value | null {
  const terms = termsOf(name, schema, called);
  if (Array.isArray(schema.enum)) {
    const listed = schema.enum.filter((each) => typeof each === "string");
    const [choice, ...more] = listed.filter((each) => words.some(({ bare }) => bare === each.toLowerCase()));
    return choice === undefined || more.length > 0 ? null : choice;
  }
  switch (schema.type) {
    case "integer":
    case "number":
      return numberFor(name, terms, words, schema.type === "integer");
    case "boolean": {
      const at = words.findIndex(({ bare }) => terms.has(stem(bare)));
      return at < 0 ? null : !words.slice(Math.max(0, at - 2), at).some(({ bare }) => NEGATIONS.has(bare));
    }
    case "string":
      return slotOf(name) === "path" ? folderIn(wish) || null : textAfter(name, wish, words);
    default:
      return null;
  }
}

/** What an argument is called in people's words. */
function termsOf(name: string, { description }: Schema, called: Words): Words {
  const told = typeof description === "string" ? termsIn(description).filter((term) => !called.has(term)) : [];
  const terms = [...partsOf(name).map(stem), ...told];
  return new Set(terms.filter((term) => term.length > 2 && !UNTELLING.has(term)));
}

/** The one number that stands nearest to a word of the argument; for a limit to "last", "first" or "top" too. */
function numberFor(name: string, terms: Words, words: readonly Word[], whole: boolean): number | null {
  const isLimit = partsOf(name).some((part) => LIMITS.has(part));
  const wanted = isLimit ? new Set([...terms, ...LIMITING]) : terms;
  const telling = words.flatMap(({ bare }, at) => (wanted.has(stem(bare)) ? [at] : []));
  const found = words.flatMap(({ bare }, at) => {
    const written = writtenIn(bare);
    return written === null ? [] : [{ written, distance: Math.min(...telling.map((each) => Math.abs(at - each))) }];
  });
  const nearest = Math.min(...found.map(({ distance }) => distance));
  const [number, ...more] = new Set(found.filter(({ distance }) => distance === nearest).map(({ written }) => written));
  if (number === undefined || more.length > 0 || nearest > NEAR) return null;
  return whole && !/^-?[0-9]+$/.test(number) ? null : Number(number);
}

/** A number in digits, from digits or a word for it. "A" and "an" are articles. */
function writtenIn(word: string): string | null {
  if (/^-?[0-9]{1,9}(?:\.[0-9]{1,6})?$/.test(word)) return word;
  const number = word.length > 2 ? NUMBER_WORDS.get(word) : undefined;
  return number === undefined ? null : String(number);
}

/** What stands after the argument's own name: quoted words, or one word. */
function textAfter(name: string, wish: string, words: readonly Word[]): string | null {
  const parts = new Set(
    partsOf(name)
      .filter((part) => part.length > 2)
      .map(stem),
  );
  for (const [at, word] of words.entries()) {
    if (!parts.has(stem(word.bare))) continue;
    const quoted = [...wish.matchAll(QUOTED)].find(({ index }) => word.end <= index && index <= word.end + 4);
    if (quoted !== undefined) return quoted[0].slice(1, -1);
    const after = words.slice(at + 1, at + 3).find(({ bare }) => !JOINING.has(bare));
    if (after === undefined) continue;
    const written = wish.slice(after.start, after.end);
    if (isThing(written) || /^[\p{L}\p{N}]+$/u.test(after.bare)) return bareThing(written);
  }
  return null;
}
