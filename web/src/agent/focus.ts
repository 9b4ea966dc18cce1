import limits from "../../../loop/limits.json" with { type: "json" };
import type { ToolCall } from "../protocol/generated.ts";
import type { Observation } from "./messages.ts";
import { partsOf, type Slot, slotOf } from "./names.ts";
import { isParseFailure, readObject } from "./parse.ts";
import { vocabulary } from "./vocabulary.ts";

/*
 * What "it" is: the file, page, search or thing that the last call was about. The focus comes from what was called, which the
 * person saw, and from results only where the gateway trusts them: a file cannot say which file "delete it" means.
 */

/** At most one thing of each kind. */
export interface Focus {
  readonly path: string | null;
  readonly url: string | null;
  readonly query: string | null;
  readonly id: string | number | null;
}

export const NOTHING: Focus = { path: null, url: null, query: null, id: null };

/** Characters of a focused value. Longer ones are texts, not names of things. */
const MAX_LENGTH = limits.focusCharacters;

/** Characters of a result that is read for the thing it made. */
const MAX_RESULT = limits.focusResultCharacters;

const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** Verbs after which a thing is no longer where it was. */
const ENDING = vocabulary.removingVerbs;

type Things = Partial<Record<Slot, (string | number)[]>>;

/** The focus once a call has closed. What did not succeed changes nothing. */
export function updateFocus(call: Pick<ToolCall, "name" | "arguments">, result: Observation, focus: Focus): Focus {
  if (result.outcome !== "ok") return focus;
  const pointed = thingsIn(call.arguments);
  if (partsOf(call.name).some((part) => ENDING.includes(part))) {
    const gone = Object.entries(pointed).filter(([slot, values]) =>
      values.some((each) => each === focus[slot as Slot]),
    );
    return { ...focus, ...Object.fromEntries(gone.map(([slot]) => [slot, null])) };
  }
  const made = result.trust === "trusted" ? thingsIn(read(result.content)) : {};
  const single = Object.entries({ ...pointed, ...made }).filter(([, values]) => values.length === 1);
  return { ...focus, ...Object.fromEntries(single.map(([slot, [value]]) => [slot, value])) };
}

function thingsIn(members: Readonly<Record<string, unknown>>): Things {
  const things: Things = {};
  for (const [name, value] of Object.entries(members)) {
    const slot = slotOf(name);
    if (slot !== null && canBeFocused(slot, value)) {
      things[slot] ??= [];
      things[slot].push(value);
    }
  }
  return things;
}

function canBeFocused(slot: Slot, value: unknown): value is string | number {
  if (typeof value === "string") return value !== "" && value.length <= MAX_LENGTH && !UNPRINTABLE.test(value);
  return slot === "id" && Number.isSafeInteger(value);
}

function read(content: string): Record<string, unknown> {
  if (content.length > MAX_RESULT) return {};
  const value = readObject(content);
  return isParseFailure(value) ? {} : value;
}
