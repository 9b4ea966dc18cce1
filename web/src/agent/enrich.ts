import type { JsonSchema } from "./chat.ts";
import { findDays, plain } from "./days.ts";
import type { Focus } from "./focus.ts";
import { findMoney } from "./money.ts";
import { partsOf, type Slot, slotOf } from "./names.ts";
import { isObject } from "./parse.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * Fill in what the model left empty and the person said: the day, the amount, and what "it" is. Only empty arguments, never
 * another value over one that is there; only what the words say without a doubt, so that two days or two amounts fill nothing.
 * Runs before the request is sent: the person is shown, and decides on, what was filled.
 */

type Kind = "day" | "amount" | "currency" | Slot;
type Properties = readonly Property[];
/** An argument of a tool. */
interface Property {
  readonly name: string;
  readonly schema: JsonSchema;
}
/** What the message says of an argument, in the spellings to try. */
interface Said extends Property {
  readonly spellings: readonly (string | number)[];
}

const DAYS = vocabulary.dayArguments;
const TIMES = vocabulary.timeArguments;
const AMOUNTS = vocabulary.amountArguments;

/** Words of an argument's name by which its day is one to come. */
const AHEAD = vocabulary.aheadArguments;

const END = `(?= ?$| ?[.,;!?)]| (?:${anyOf(vocabulary.wordsAfterIt)})\\b)`;
const IT = new RegExp(`\\bit\\b|\\b(?:this|that)\\b${END}`);
const said = (slot: Slot) =>
  new RegExp(`\\b(?:${anyOf(vocabulary.pointers)}) (?:${anyOf(vocabulary.slotNouns[slot])})\\b`);
const SAID: Readonly<Record<Slot, RegExp>> = {
  path: said("path"),
  url: said("url"),
  query: said("query"),
  id: said("id"),
};
/** The first verb alone is looked for, and then "again": not every verb with every "again". */
const SEARCH_AGAIN = new RegExp(`^(?=(.*?\\b(?:${anyOf(vocabulary.searchVerbs)})\\b))\\1.*\\bagain\\b`, "s");
const SLOTS: readonly Slot[] = ["path", "url", "query", "id"];

/**
 * The arguments with the empty ones filled that the message answers. Empty is missing, null or "". `today` is the ISO day where
 * the person is. What is filled is of the type that the tool's schema asks for; the rest is checked, like everything else, by
 * the gateway.
 */
export function enrich(
  args: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  message: string,
  focus: Focus,
  today: string,
): Record<string, unknown> {
  const properties = propertiesOf(schema);
  const filled = spoken(properties, plain(message), today, focus, args).flatMap(
    ({ name, schema: asked, spellings }) => {
      const value = fitting(spellings, asked);
      return value !== null && isEmpty(args, name) ? [[name, value] as const] : [];
    },
  );
  return Object.fromEntries([...Object.entries(args), ...filled]);
}

/** What the message says of each argument that it can be about. */
function spoken(
  properties: Properties,
  message: string,
  today: string,
  focus: Focus,
  args: Readonly<Record<string, unknown>>,
): Said[] {
  const said: Said[] = [];
  const ofDay = single(properties, "day");
  const isAhead = ofDay !== null && partsOf(ofDay.name).some((part) => AHEAD.includes(part));
  const days = findDays(message, today, isAhead);
  const [day = null, ...others] = new Set(days.map((each) => each.day));
  if (ofDay !== null && day !== null && others.length === 0) said.push({ ...ofDay, spellings: [day] });
  const begins = [0, ...days.map(({ end }) => end)];
  const ends = [...days.map(({ start }) => start), message.length];
  const text = begins.map((begin, place) => message.slice(begin, ends[place])).join(" ");
  const money = findMoney(text);
  const ofAmount = single(properties, "amount");
  const ofCurrency = single(properties, "currency");
  if (money !== null && ofAmount !== null) said.push({ ...ofAmount, spellings: [Number(money.amount), money.amount] });
  if (money !== null && money.currency !== null && ofCurrency !== null)
    said.push({ ...ofCurrency, spellings: [money.currency] });
  return [...said, ...pointedAt(properties, text, focus, args)];
}

function pointedAt(
  properties: Properties,
  text: string,
  focus: Focus,
  args: Readonly<Record<string, unknown>>,
): Said[] {
  const open = SLOTS.flatMap((slot) => {
    const property = single(properties, slot);
    const thing = focus[slot];
    return property !== null && thing !== null && isEmpty(args, property.name)
      ? [{ slot, ...property, spellings: [thing] }]
      : [];
  });
  const said = open.filter(({ slot }) => isNamed(slot, text));
  if (said.length > 0) return said;
  // One "it" is one thing, and a search is never "it".
  const candidates = open.filter(({ slot }) => slot !== "query");
  return candidates.length === 1 && IT.test(text) ? candidates : [];
}

/** Whether the message speaks of the thing of this kind, and not only of "it". */
function isNamed(slot: Slot, text: string): boolean {
  return SAID[slot].test(text) || (slot === "query" && SEARCH_AGAIN.test(text));
}

/** The only argument of its kind. Of two, such as where from and where to, the message does not say which it means. */
function single(properties: Properties, kind: Kind): Property | null {
  const [property = null, ...others] = properties.filter(({ name, schema }) => kindOf(name, schema) === kind);
  return others.length === 0 ? property : null;
}

function kindOf(name: string, { format }: JsonSchema): Kind | null {
  switch (format) {
    case "date":
      return "day";
    case "uri":
    case "url":
      return "url";
    case "date-time":
    case "time":
      return null;
  }
  const parts = partsOf(name);
  const isOf = (words: readonly string[]) => parts.some((part) => words.includes(part));
  if (isOf(DAYS)) return isOf(TIMES) ? null : "day";
  if (parts.includes("currency")) return "currency";
  return isOf(AMOUNTS) ? "amount" : slotOf(name);
}

/** The first spelling in a type that the schema takes, as the schema writes it where it lists the values; else null. */
function fitting(spellings: readonly (string | number)[], schema: JsonSchema): unknown {
  const types = typesOf(schema);
  for (const spelling of spellings) {
    if (!typesLike(spelling).some((type) => types.has(type))) continue;
    if (!Array.isArray(schema.enum)) return spelling;
    const isSame = (each: unknown) =>
      typeof each === typeof spelling && String(each).toLowerCase() === String(spelling).toLowerCase();
    const listed: unknown = schema.enum.find(isSame);
    if (listed !== undefined) return listed;
  }
  return null;
}

/** The types that a schema takes by its own words. References are not followed: what is not known is not filled. */
function typesOf({ type, anyOf, oneOf }: JsonSchema): ReadonlySet<unknown> {
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type);
  const branches = anyOf ?? oneOf;
  if (!Array.isArray(branches)) return new Set();
  return new Set(branches.filter(isObject).flatMap((branch) => [...typesOf(branch)]));
}

function typesLike(value: string | number): string[] {
  if (typeof value === "string") return ["string"];
  return Number.isInteger(value) ? ["number", "integer"] : ["number"];
}

function propertiesOf({ properties }: JsonSchema): Properties {
  const members = isObject(properties) ? Object.entries(properties) : [];
  return members.flatMap(([name, schema]) => (isObject(schema) ? [{ name, schema }] : []));
}

function isEmpty(args: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return value === undefined || value === null || value === "";
}
