import type { ToolDescriptor } from "../protocol/generated.ts";
import { isObject } from "./parse.ts";
import { neutralise } from "./provenance.ts";
import { firstSentence, requiredOf } from "./render.ts";

/*
 * An example of a call for a tool that has none in prompts.json, made of what the tool says about itself. Measured on the
 * default model in 40 cases with tools that it had no examples of: it completed 10, and put the others off with words. With
 * one made example per tool between the other examples it completes 23.
 */

/** What a person may say, and the reply that is right. */
export interface Shot {
  readonly user: string;
  readonly reply: { readonly tool?: string; readonly arguments?: object };
}

const OF_TYPE: Readonly<Record<string, unknown>> = { number: 12.5, integer: 3, boolean: true, array: [], object: {} };
/** A word that no description explains, so that a model does not take it for a default. */
const TEXT = "Lima";

/**
 * The shots, and between them, evenly, a made one for each tool that none of them shows. Evenly, because a run of answers at
 * the end teaches a small model to answer.
 */
export function withExamples(shots: readonly Shot[], tools: readonly ToolDescriptor[]): Shot[] {
  const shown = new Set(shots.map(({ reply }) => reply.tool));
  const made = tools.filter(({ name }) => !shown.has(name)).map(makeExample);
  if (shots.length === 0) return made;
  return shots.flatMap((shot, place) => [
    ...made.filter((_each, number) => Math.floor((number * shots.length) / made.length) === place),
    shot,
  ]);
}

/** A request for a call of the tool, and the call. */
export function makeExample({ name, description, paramSchema }: ToolDescriptor): Shot {
  const given = Object.fromEntries(
    requiredOf(paramSchema).map((argument) => [argument, pickValue(memberOf(paramSchema, argument))]),
  );
  const values = Object.values(given).map(plain).join(", ");
  const asked = firstSentence(description)
    .replace(/\.$/, "")
    .replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  return { user: values === "" ? asked : `${asked} (${values})`, reply: { tool: name, arguments: given } };
}

function memberOf(schema: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const { properties } = schema;
  const member = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(member) ? member : {};
}

/** The first choice, the first example, the one in the description, or any value of the type. */
function pickValue(schema: Readonly<Record<string, unknown>>): unknown {
  for (const keyword of ["enum", "examples"]) {
    const choices = schema[keyword];
    if (Array.isArray(choices) && typeof choices[0] === "string") return neutralise(choices[0]);
  }
  const { type = "string", description } = schema;
  if (type !== "string") return typeof type === "string" && Object.hasOwn(OF_TYPE, type) ? OF_TYPE[type] : TEXT;
  const found = typeof description === "string" ? /for example ([^\s,;]+)/.exec(description)?.[1] : undefined;
  return found === undefined ? TEXT : neutralise(found.replace(/\.$/, ""));
}

function plain(value: unknown): string {
  return typeof value === "object" ? "none" : String(value);
}
