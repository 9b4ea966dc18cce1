import type { ToolDescriptor } from "../protocol/generated.ts";
import { copyableStrings } from "./copied.ts";
import { listedPaths } from "./found.ts";
import type { Message } from "./messages.ts";
import { slotOf } from "./names.ts";

/*
 * Names of files and folders in the capitals in which a listing showed them, or the person wrote them. A small model writes
 * `Photos` for `photos`. Only the capitals change, so that a listing can bring up no other name.
 */

/**
 * The arguments of a call with their paths spelled as the conversation knows them. What a listing showed goes before what the
 * person wrote. A name that stands there as it is stays, and so does one that stands there in two spellings.
 */
export function spelledAsKnown(
  given: Readonly<Record<string, unknown>>,
  messages: readonly Message[],
  tools: readonly Pick<ToolDescriptor, "name" | "category">[],
): Record<string, unknown> {
  const known = [listedPaths(messages, tools), copyableStrings(messages).names];
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, slotOf(name) === "path" ? spelled(value, known) : value]),
  );
}

function spelled(value: unknown, known: readonly (readonly string[])[]): unknown {
  if (typeof value !== "string") return value;
  const bare = value.replace(/\/+$/, "");
  for (const names of known) {
    const alike = names
      .map((name) => name.replace(/\/+$/, ""))
      .filter((name) => name.toLowerCase() === bare.toLowerCase());
    const same = new Set(alike);
    if (same.has(bare)) return value;
    if (same.size === 1) return `${alike[0]}${value.slice(bare.length)}`;
  }
  return value;
}
