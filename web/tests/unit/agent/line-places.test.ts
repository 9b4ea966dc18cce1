import { expect, test } from "vitest";
import { callForFile, fileAsked } from "../../../src/agent/file-asked.ts";
import { answerLines, linesAsked } from "../../../src/agent/line-places.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import type { ReadingTool } from "../../../src/agent/reading.ts";
import { restCall, withRest } from "../../../src/agent/whole-files.ts";
import { readVectors } from "./vectors.ts";

interface Rest {
  readonly name: string;
  readonly wish: string;
  readonly outcome?: "executionError";
  readonly calls: [name: string, given: ToolMessage["call"]["arguments"], content: string][];
  readonly next: object | null;
  readonly text: string;
  readonly truncated: boolean;
}

interface Vectors {
  readonly lines: { name: string; wish: string; asked: [string, number, number] | null }[];
  readonly answers: {
    name: string;
    wish: string;
    text: string;
    whole: boolean;
    hasLines: boolean;
    answer: string | null;
  }[];
  readonly asked: { name: string; message: string; asked: [string, string] | null }[];
  readonly tools: ReadingTool[];
  readonly rests: Rest[];
}

const vectors = readVectors<Vectors>("line-places");
const { tools } = vectors;

function closed({ calls, outcome = "ok" as const }: Rest | { calls: Rest["calls"]; outcome?: "ok" }): ToolMessage[] {
  return calls.map(([name, given, content], at) => ({
    role: "tool",
    turnId: "t",
    call: { id: `c${at}`, name, arguments: given },
    result: { outcome, content, trust: "untrusted", truncated: true },
  }));
}

test.each(vectors.lines)("lines are told by their place: $name", ({ wish, asked }) => {
  const told = linesAsked(wish);
  expect(told && [told.file, told.first, told.last]).toEqual(asked);
});

test.each(vectors.answers)("lines are counted off by code: $name", ({ wish, text, whole, hasLines, answer }) => {
  expect(answerLines(wish, { name: "a.txt", text, whole, hasLines })).toBe(answer);
});

test.each(vectors.asked)("a file that is read and what is asked of it are one wish: $name", ({ message, asked }) => {
  const told = fileAsked(message);
  expect(told && [told.file, told.asked]).toEqual(asked);
  expect(callForFile(message, tools)).toEqual(told && { name: "read_file", arguments: { path: told.file } });
  expect(callForFile(message, [])).toBeNull();
});

test.each(vectors.rests)("a long file is read to its end where only the whole answers: $name", (each) => {
  const calls = closed(each);
  expect(restCall(each.wish, calls, tools)?.arguments ?? null).toEqual(each.next);
  expect(restCall(each.wish, calls, tools.slice(0, 1))).toBeNull();
  const { result } = withRest(calls.at(-1) as ToolMessage, calls, tools);
  expect([result.content, result.truncated]).toEqual([each.text, each.truncated]);
});

test("a result of another action stays as it is", () => {
  const calls = closed(vectors.rests[2] as Rest);
  const [other] = closed({ calls: [["search", {}, "a"]] });
  expect(withRest(other as ToolMessage, calls, tools)).toBe(other);
  expect(restCall("how many lines has a.log?", [], tools)).toBeNull();
});
