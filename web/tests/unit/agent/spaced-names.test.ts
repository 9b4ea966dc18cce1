import { expect, test } from "vitest";
import type { Message } from "../../../src/agent/messages.ts";
import { quoteNames, withNamesQuoted } from "../../../src/agent/spaced-names.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly cases: readonly { readonly name: string; readonly said: string; readonly quoted: string }[];
}

test.each(readVectors<Vectors>("spaced-names").cases)("a name with spaces is quoted: $name", ({ said, quoted }) => {
  expect(quoteNames(said)).toBe(quoted);
});

test("only what the person said is changed", () => {
  const said: Message = { role: "user", turnId: "t", content: "open meeting notes.txt" };
  const answer: Message = { role: "assistant", turnId: "t", content: "open meeting notes.txt", toolCalls: [] };
  expect(withNamesQuoted([said, answer])).toEqual([{ ...said, content: 'open "meeting notes.txt"' }, answer]);
});
