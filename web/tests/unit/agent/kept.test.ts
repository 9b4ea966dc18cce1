import { describe, expect, test } from "vitest";
import { fitMessages } from "../../../src/agent/budget.ts";
import { pageOf, READER, usefulTools } from "../../../src/agent/kept.ts";
import type { Message } from "../../../src/agent/messages.ts";
import { nextPage } from "../../../src/agent/paging.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly pages: readonly { name: string; content: string; text: string; note: string; next: string }[];
  readonly wishes: readonly { name: string; wish: string; more: boolean }[];
  readonly calls: readonly { name: string; content: string; call: Record<string, unknown> | null }[];
}

const vectors = readVectors<Vectors>("kept");
const TOOLS = [{ name: "read_file" }, { name: READER }];
const LONG = vectors.pages.find(({ name }) => name === "the first page") ?? { content: "", note: "" };

function messagesWith(content: string): Message[] {
  const call = { id: "c1", name: "read_file", arguments: { path: "a" } };
  return [
    { role: "user", turnId: "t1", content: "show me a" },
    { role: "tool", turnId: "t1", call, result: { outcome: "ok", content, trust: "untrusted", truncated: true } },
    { role: "user", turnId: "t2", content: "more" },
  ];
}

describe("the line at the end is no line of the result", () => {
  test.each(vectors.pages)("$name", ({ content, text, note, next }) => {
    expect(pageOf(content)).toEqual({ text, note, next });
    expect(usefulTools(TOOLS, messagesWith(content), () => false).length).toBe(note === "" ? 1 : 2);
  });
});

test("a result that the model may get a part of is read on in as well", () => {
  expect(usefulTools(TOOLS, messagesWith("a"), (content) => content === "a")).toEqual(TOOLS);
  expect(usefulTools(TOOLS, [], () => true)).toEqual(TOOLS.slice(0, 1));
});

describe("a wish for more is known by its words", () => {
  test.each(vectors.wishes)("$name", ({ wish, more }) => {
    expect(nextPage(wish, messagesWith(LONG.content), TOOLS) !== null).toBe(more);
  });
});

describe("the loop reads on where the last result says how", () => {
  test.each(vectors.calls)("$name", ({ content, call }) => {
    const expected = call === null ? null : { name: READER, arguments: call };
    expect(nextPage("more", messagesWith(content), TOOLS)).toEqual(expected);
    expect(nextPage("more", messagesWith(content), TOOLS.slice(0, 1))).toBeNull();
  });
});

test("before the first result there is no more", () => {
  expect(nextPage("more", [{ role: "user", turnId: "t1", content: "more" }], TOOLS)).toBeNull();
});

test("a result that is cut for the model still says how to read on", () => {
  const { messages } = fitMessages(messagesWith(`${"x".repeat(4000)}\n${LONG.note}`).slice(0, 2), 200);
  const last = messages[1];
  const content = last?.role === "tool" ? last.result.content : "";
  expect(content.endsWith(` characters]\n${LONG.note}`)).toBe(true);
  expect(content.length).toBeLessThan(800);
});
