import { expect, test } from "vitest";
import { fill } from "../../../src/agent/fill.ts";
import type { Message } from "../../../src/agent/messages.ts";
import { asEntry, signatureOf, told } from "../../../src/agent/render.ts";
import { readVectors } from "./vectors.ts";

/* What every prompt is made of, against the vectors that Python reads too. */

const vectors = readVectors<{
  fills: { name: string; sentence: string; values: Record<string, string>; filled: string }[];
  signatures: {
    name: string;
    tool: string;
    description: string;
    schema: Record<string, unknown>;
    signature: string;
  }[];
  entries: { name: string; text: string; entry: string }[];
  messages: { name: string; message: Message; told: string }[];
}>("render");

test.each(vectors.fills)("a sentence is filled in one pass: $name", ({ sentence, values, filled }) => {
  expect(fill(sentence, (name) => values[name])).toBe(filled);
});

test.each(vectors.signatures)("a tool is shown by its needed arguments and its first sentence: $name", (each) => {
  expect(signatureOf(each.tool, each.description, each.schema)).toBe(each.signature);
});

test.each(vectors.entries)("no line of an entry passes for another entry: $name", ({ text, entry }) => {
  expect(asEntry(text)).toBe(entry);
});

test.each(vectors.messages)("a message is told with who said it: $name", (each) => {
  expect(told(each.message)).toBe(each.told);
});
