/** Text of a file as it may be shown: what cannot be seen, or moves what is around it, is written out. */

import type { Json, JsonObject } from "../json.ts";

/** Control and format characters, among them those that turn the reading direction; line and paragraph separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

export function shown(text: string): string {
  return text.replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A value on several lines. */
export function shownJson(value: Json): string {
  return JSON.stringify(value, null, 2).split("\n").map(shown).join("\n");
}

/** Where a record stands, when it was written, and the name of what it records. */
export function recordPlace(index: number, { at, event }: JsonObject): string {
  const time = typeof at === "number" && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : "at no time";
  return shown(`#${index}  ${time}  ${String(event)}`);
}
