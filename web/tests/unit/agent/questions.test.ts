import { expect, test } from "vitest";
import { asksAboutContent, asksForNamed, questionsIn } from "../../../src/agent/questions.ts";
import { readingFor } from "../../../src/agent/reading.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly cases: readonly { name: string; wish: string; asks: boolean }[];
  readonly parts: readonly { name: string; wish: string; parts: string[] }[];
  readonly named: readonly { name: string; wish: string; file: string; asks: boolean }[];
  readonly readings: readonly {
    name: string;
    wish: string;
    tools: Pick<ToolDescriptor, "name" | "category" | "paramSchema">[];
    call: [string, Record<string, unknown>] | null;
  }[];
}

const vectors = readVectors<Vectors>("questions");

test.each(vectors.cases)("a question about a content is told from a wish to see it: $name", ({ wish, asks }) => {
  expect(asksAboutContent(wish)).toBe(asks);
});

test.each(vectors.readings)("a question about one file by its name reads it: $name", ({ wish, tools, call }) => {
  const reading = readingFor(wish, tools);
  expect(reading && [reading.name, reading.arguments]).toEqual(call);
});

test.each(vectors.parts)(
  "further questions about a file that is named stand by themselves: $name",
  ({ wish, parts }) => {
    expect(questionsIn(wish)).toEqual(parts);
  },
);

test.each(vectors.named)(
  "a question what is in a file may call it by words of its name: $name",
  ({ wish, file, asks }) => {
    expect(asksForNamed(wish, file)).toBe(asks);
  },
);
