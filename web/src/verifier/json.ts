/**
 * JSON of which there is one spelling (RFC 8785), read strictly, and its members asked for by name.
 *
 * Nothing of this folder is shared with the gateway's own verifier: the two agree because tests hold them to it.
 */

import canonicalize from "canonicalize";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** What is read is not what a gateway writes. */
export class Malformed extends Error {}

/** docs/PROTOCOL.md section 2. */
const DEEPEST = 64;

/** Half of a surrogate pair, which has no UTF-8. */
const HALF_CHARACTER = /\p{Cs}/u;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** The text of bytes. Throws Malformed for what is not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Malformed("this is not UTF-8");
  }
}

export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Any JSON. Throws Malformed for what has no canonical form, such as numbers beyond 2^53. */
export function parseJson(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw new Malformed("this is no JSON");
  }
  requireReadable(value, DEEPEST);
  return value;
}

/** JSON that is written in its canonical form. Throws Malformed for every other spelling. */
export function parseCanonical(text: string): Json {
  const value = parseJson(text);
  if (writeCanonical(value) !== text) throw new Malformed("this is no canonical JSON");
  return value;
}

export function writeCanonical(value: Json): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Malformed("this has no canonical form");
  return text;
}

export function canonicalBytes(value: Json): Uint8Array<ArrayBuffer> {
  return encodeText(writeCanonical(value));
}

function requireReadable(value: Json, levels: number): void {
  if (typeof value === "number" && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    throw new Malformed("a number is out of range");
  }
  if (typeof value === "string" && HALF_CHARACTER.test(value)) throw new Malformed("a text holds half a character");
  if (typeof value !== "object" || value === null) return;
  if (levels === 0) throw new Malformed("it is nested too deeply");
  if (isList(value)) {
    for (const each of value) requireReadable(each, levels - 1);
    return;
  }
  for (const [name, each] of Object.entries(value)) {
    if (HALF_CHARACTER.test(name)) throw new Malformed("a name holds half a character");
    requireReadable(each, levels - 1);
  }
}

// ── members of an object ──

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !isList(value);
}

/** A member, or undefined where there is none. */
export function member(of: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

/** A member that has to be there. */
export function need(of: JsonObject, name: string): Json {
  const value = member(of, name);
  if (value === undefined) throw new Malformed(`\`${name}\` is missing`);
  return value;
}

export function needText(of: JsonObject, name: string): string {
  const value = need(of, name);
  if (typeof value !== "string") throw new Malformed(`\`${name}\` is no text`);
  return value;
}

export function needFlag(of: JsonObject, name: string): boolean {
  const value = need(of, name);
  if (typeof value !== "boolean") throw new Malformed(`\`${name}\` is neither true nor false`);
  return value;
}

export function needNumber(of: JsonObject, name: string): number {
  const value = need(of, name);
  if (typeof value !== "number") throw new Malformed(`\`${name}\` is no number`);
  return value;
}

export function needObject(of: JsonObject, name: string): JsonObject {
  const value = need(of, name);
  if (!isJsonObject(value)) throw new Malformed(`\`${name}\` is no object`);
  return value;
}

export function needTexts(of: JsonObject, name: string): readonly string[] {
  const value = need(of, name);
  if (!isList(value) || !value.every((each) => typeof each === "string")) {
    throw new Malformed(`\`${name}\` is no list of texts`);
  }
  return value;
}

/** Whether two values are the same JSON. */
export function same(one: Json | undefined, other: Json | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one === other || writeCanonical(one) === writeCanonical(other);
}

/** Whether these members of two objects are there and the same. */
export function agree(one: JsonObject, other: JsonObject, names: readonly string[]): boolean {
  return names.every((name) => same(need(one, name), need(other, name)));
}
