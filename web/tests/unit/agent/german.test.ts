import { expect, test } from "vitest";
import { inEnglish, withFramesInEnglish } from "../../../src/agent/german.ts";
import { inGerman } from "../../../src/agent/german-words.ts";
import type { Message } from "../../../src/agent/messages.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly cases: readonly { readonly name: string; readonly said: string; readonly english: string }[];
  readonly sayings: readonly { readonly english: string; readonly german: string }[];
}

const vectors = readVectors<Vectors>("german");

test.each(vectors.cases)("the frame of a wish in German is read in English: $name", ({ said, english }) => {
  expect(inEnglish(said)).toBe(english);
});

test.each(vectors.sayings)("what the loop says is said in German: $english", ({ english, german }) => {
  expect(inGerman(english)).toBe(german);
});

test("only what the person said is read in English", () => {
  const said: Message = { role: "user", turnId: "t", content: "Wo ist der Hund?" };
  const answer: Message = { role: "assistant", turnId: "t", content: "Wo ist der Hund?", toolCalls: [] };
  expect(withFramesInEnglish([said, answer])).toEqual([{ ...said, content: "where is the hund?" }, answer]);
});
