import { describe, expect, test } from "vitest";
import { plainCall, saidTools } from "../../../src/agent/plain-calls.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly { name: string; paramSchema: Record<string, unknown> }[];
  readonly calls: readonly { name: string; wish: string; call: readonly [string, Record<string, unknown>] | null }[];
  readonly said: readonly { name: string; wish: string; tools: readonly string[]; lines?: boolean }[];
}

const vectors = readVectors<Vectors>("plain");
const BARE = vectors.tools.map((tool) => ({ ...tool, paramSchema: { type: "object" } }));

describe("the call of a plain wish is read out of its words", () => {
  test.each(vectors.calls)("$name", ({ wish, call }) => {
    const expected = call === null ? null : { name: call[0], arguments: call[1] };
    expect(plainCall(wish, vectors.tools)).toEqual(expected);
    expect(plainCall(wish, BARE)).toBeNull();
  });
});

describe("a tool is shown where the wish has a word for it", () => {
  test.each(vectors.said)("$name", ({ wish, tools, lines }) => {
    const shown = saidTools(wish, vectors.tools);
    expect(shown.map(({ name }) => name)).toEqual(tools);
    const properties = lines === true ? ["path", "first_line", "last_line"] : ["path"];
    expect(Object.keys(shown.at(-1)?.paramSchema.properties as object)).toEqual(properties);
    expect(saidTools(wish, BARE)).toEqual(BARE.filter(({ name }) => tools.includes(name)));
  });
});
