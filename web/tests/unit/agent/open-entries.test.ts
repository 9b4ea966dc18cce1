import { expect, test } from "vitest";
import { entriesAsked, openQueries } from "../../../src/agent/open-entries.ts";
import { answerRows } from "../../../src/agent/row-answers.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly list: string;
  readonly cases: readonly {
    readonly asked: string;
    readonly queries: readonly string[];
    readonly lines: readonly number[] | null;
  }[];
}

const vectors = readVectors<Vectors>("open-entries");

test.each(vectors.cases)("the entries that are open or ticked answer: $asked", ({ asked, queries, lines }) => {
  const rows = entriesAsked(asked, vectors.list);
  expect(rows === null ? null : rows.map(({ line }) => line)).toEqual(lines);
  expect(openQueries(asked)).toEqual(queries);
});

test("a text without boxes has none", () => {
  expect(entriesAsked("what do I still have to buy?", "bread\n- [ ] milk\n")).toBeNull();
});

test("that nothing is open is said", () => {
  const done = { name: "a.md", text: "- [x] bread\n- [x] milk\n", whole: true, hasLines: true };
  expect(answerRows("what do I still have to buy?", done, "2026-03-10")).toBe("None of the 2 entries (`a.md`)");
});

test("the open ones are told with their places", () => {
  const list = { name: "a.md", text: "- [x] bread\n- [ ] milk\n", whole: true, hasLines: true };
  const said = answerRows("what do I still have to buy?", list, "2026-03-10");
  expect(said).toBe("1 entry (`a.md`, line 2):\n\n```\n[ ] milk\n```");
});
