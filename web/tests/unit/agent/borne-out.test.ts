import { expect, test } from "vitest";
import { unsupportedIn } from "../../../src/agent/borne-out.ts";
import { copy, explainOutcome } from "../../../src/agent/copy.ts";
import type { Message, ToolMessage } from "../../../src/agent/messages.ts";
import { passageOf, sourcesOf } from "../../../src/agent/supporting.ts";
import { ok } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly cases: readonly { name: string; text: string; sources: string[]; missing: string[] }[];
}

const closed = (name: string, given: Record<string, unknown>, content: string): ToolMessage => ({
  role: "tool",
  turnId: "t",
  call: { id: "c", name, arguments: given },
  result: ok(content),
});

test.each(readVectors<Vectors>("borne-out").cases)("what stands in no result is named: $name", (each) => {
  expect(unsupportedIn(each.text, each.sources)).toEqual(each.missing);
});

test("what a model said before bears nothing out", () => {
  const messages: Message[] = [
    { role: "user", turnId: "t", content: "read it" },
    { role: "assistant", turnId: "t", content: "It is 7.", toolCalls: [] },
    closed("read_file", { path: "a.txt", first_line: 2 }, "Ana"),
  ];
  expect(sourcesOf(messages, [{ name: "read_file" }])).toEqual(["read it", "a.txt", "2", "Ana", "read_file"]);
});

test("the passage is of what was read and has most of the question", () => {
  const calls = [
    closed("search_files", { query: "cake order number" }, "cake order number"),
    closed("read_file", { path: "a.txt" }, "the cake\nis at Lindner's, order number 417"),
    closed("read_file", { path: "b.txt" }, "the cake is late"),
  ];
  const said = passageOf("what is the order number of the cake?", calls);
  expect(said.startsWith(`${copy.noAnswer} (\`a.txt\`, lines 1–2)`)).toBe(true);
  expect(passageOf("is the cake late?", calls)).toContain("(`b.txt`, line 1)");
  expect(passageOf("what of the cake?", calls.slice(0, 1))).toMatch(/cake order number\n```$/);
  const failed = closed("read_file", { path: "c.txt" }, "");
  const result = { ...failed.result, outcome: "executionError" as const };
  expect(passageOf("what of the cake?", [{ ...failed, result }])).toBe(explainOutcome("read_file", result));
});
