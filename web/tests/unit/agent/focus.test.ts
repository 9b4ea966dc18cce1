import { describe, expect, test } from "vitest";
import { type Focus, NOTHING, updateFocus } from "../../../src/agent/focus.ts";
import type { Observation } from "../../../src/agent/messages.ts";
import { partsOf, slotOf } from "../../../src/agent/names.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly names: readonly { name: string; slot: string | null; parts: string[] }[];
  readonly after: readonly {
    name: string;
    call: { name: string; arguments: Record<string, unknown> };
    result: Observation;
    focus: Partial<Focus>;
    becomes: Partial<Focus>;
  }[];
}

const vectors = readVectors<Vectors>("focus");

const done = (content: string, trust: Observation["trust"]): Observation => ({
  outcome: "ok",
  content,
  trust,
  truncated: false,
});

describe("a name tells what it points at", () => {
  test.each(vectors.names)("$name", ({ name, slot, parts }) => {
    expect([partsOf(name), slotOf(name)]).toEqual([parts, slot]);
  });
});

describe("the focus follows what was done", () => {
  test.each(vectors.after)("$name", ({ call, result, focus, becomes }) => {
    expect(updateFocus(call, result, { ...NOTHING, ...focus })).toEqual({ ...NOTHING, ...becomes });
  });
});

test("a text is no name of a thing", () => {
  const call = { name: "x", arguments: { path: "p".repeat(1025) } };
  expect(updateFocus(call, done("", "untrusted"), NOTHING)).toEqual(NOTHING);
  expect(updateFocus(call, done(`{"id": 1}${" ".repeat(8192)}`, "trusted"), NOTHING)).toEqual(NOTHING);
});

test("half a character is no name of a thing", () => {
  const call = { name: "x", arguments: { path: "a\ud800" } };
  expect(updateFocus(call, done("\ud800", "trusted"), NOTHING)).toEqual(NOTHING);
});
