import words from "../../../loop/prompts.json" with { type: "json" };
import { fill } from "./fill.ts";
import type { Message } from "./messages.ts";
import { isObject } from "./parse.ts";
import { describeObservation, neutralise } from "./provenance.ts";

/*
 * How a model is shown what others wrote: tools, calls, messages and results. Every prompt of the loop is made of these: the
 * lanes' and the planner's differ in their words, which stand in prompts.json, and in their order.
 */

type Texts = Readonly<Record<string, string>>;

/**
 * `run_test(name: string, timeout?: integer) - Run a test.`: arguments with their types, the needed ones first, and a short
 * description.
 */
export function signatureOf(name: string, description: string, schema: Readonly<Record<string, unknown>>): string {
  const known = isObject(schema.properties) ? schema.properties : {};
  const needed = requiredOf(schema);
  const others = Object.keys(known).filter((each) => !needed.includes(each));
  const typeOf = (each: string) => typeIn(Object.hasOwn(known, each) ? known[each] : undefined);
  const listed = [...needed.map((each) => each + typeOf(each)), ...others.map((each) => `${each}?${typeOf(each)}`)];
  return `${name}(${neutralise(listed.join(", "))}) - ${firstSentence(description)}`;
}

/** The same where the whole schema stands beside it: the needed arguments alone. */
export function briefSignatureOf(name: string, description: string, schema: Readonly<Record<string, unknown>>): string {
  return `${name}(${requiredOf(schema).join(", ")}) - ${firstSentence(description)}`;
}

/** An argument's type in a signature; nothing where its schema does not say. */
function typeIn(schema: unknown): string {
  const type = isObject(schema) ? schema.type : undefined;
  if (Array.isArray(type)) return `: ${type.filter((each) => typeof each === "string").join("|")}`;
  return typeof type === "string" ? `: ${type}` : "";
}

/** The arguments that a schema asks for, in its order. */
export function requiredOf(schema: Readonly<Record<string, unknown>>): string[] {
  const { required } = schema;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** Of a description; its first line, where none ends. */
export function firstSentence(text: string): string {
  return neutralise(/^[^\n]*?\.(?=\s|$)/.exec(text)?.[0] ?? text.split("\n", 1).join(""));
}

/** `read_file{"path":"a"}`. */
export function toldCall(name: string, given: unknown): string {
  return name + JSON.stringify(given);
}

/** What a message adds to a prompt. */
export function textOf(message: Message): string {
  if (message.role === "tool") return message.result.content;
  if (message.role === "user") return message.content;
  return message.content + message.toolCalls.map((call) => toldCall(call.name, call.arguments)).join("");
}

/** A message as an entry of a transcript, with who said it. */
export function told(message: Message): string {
  const { person, assistant, result } = words.transcript;
  if (message.role === "user") return fill(person, () => message.content);
  if (message.role === "assistant") return fill(assistant, () => textOf(message));
  const { outcome } = message.result;
  const values: Texts = { tool: message.call.name, outcome, text: describeObservation(message.result) };
  return fill(result, (name) => values[name]);
}

/**
 * An entry of a transcript without markers of speakers. Its further lines are indented, so that none of them passes for an entry
 * of its own.
 */
export function asEntry(text: string): string {
  return neutralise(text).replaceAll("\n", "\n  ");
}
