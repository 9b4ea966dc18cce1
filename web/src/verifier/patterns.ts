/** Within what an argument may vary under a lasting approval. What is not plainly inside is outside. */

import { type Json, type JsonObject, Malformed, member, need, needText, same } from "./json.ts";

export interface GrantPattern {
  readonly argument: string;
  readonly kind: "folder" | "host" | "atMost";
  readonly bound: Json;
}

/** The pattern of a grant's payload, or null where there is none. */
export function readPattern(written: Json | undefined): GrantPattern | null {
  if (written === undefined || written === null) return null;
  const of = written as JsonObject;
  const kind = needText(of, "kind");
  if (kind !== "folder" && kind !== "host" && kind !== "atMost") throw new Malformed("this is no pattern");
  return { argument: needText(of, "argument"), kind, bound: need(of, "bound") };
}

/** Whether a value is inside. */
export function isInside({ kind, bound }: GrantPattern, value: Json | undefined): boolean {
  if (kind === "folder") return isPlainPath(value) && value.startsWith(`${String(bound)}/`);
  if (kind === "host") return originOf(value) !== null && originOf(value) === bound;
  if (typeof value !== "number" || typeof bound !== "number") return false;
  return value >= 0 && value <= bound && (Number.isInteger(value) || !Number.isInteger(bound));
}

/** Whether it is the pattern of the value that these arguments show, and not a wider one. */
export function isReadOff(pattern: GrantPattern, args: JsonObject): boolean {
  const value = member(args, pattern.argument);
  return value !== undefined && same(pattern.bound, boundOf(pattern.kind, value));
}

function boundOf(kind: GrantPattern["kind"], value: Json): Json {
  if (kind === "folder") {
    return isPlainPath(value) && value.includes("/") ? value.slice(0, value.lastIndexOf("/")) : null;
  }
  if (kind === "host") return originOf(value);
  return typeof value === "number" && value > 0 ? value : null;
}

function isPlainPath(value: Json | undefined): value is string {
  if (typeof value !== "string" || value.includes("\\") || value.startsWith("~")) return false;
  return !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(value) && !value.split("/").some((step) => ["", ".", ".."].includes(step));
}

function originOf(value: Json | undefined): string | null {
  if (typeof value !== "string") return null;
  const url = /^(https?:\/\/(?:[a-z0-9-]+\.)*[a-z0-9-]+(?::[0-9]{1,5})?)(?:\/[!-[\]-~]*)?$/.exec(value);
  return url?.[1] ?? null;
}
