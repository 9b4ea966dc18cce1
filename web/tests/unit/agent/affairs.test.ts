import { expect, test } from "vitest";
import { doubtfulQuery, ownQueries } from "../../../src/agent/affairs.ts";
import { readVectors } from "./vectors.ts";

const { cases, doubtful } = readVectors<{
  cases: { wish: string; queries: string[] }[];
  doubtful: { wish: string; query: string }[];
}>("affairs");

test.each(cases)("a question about one's own affairs shows what to look for: $wish", ({ wish, queries }) => {
  expect(ownQueries(wish)).toEqual(queries);
});

test.each(doubtful)("a question that may be about the world as well shows what could be looked for: $wish", (each) => {
  expect(doubtfulQuery(each.wish)).toBe(each.query);
});
