import { expect, test } from "vitest";
import { ownQueries } from "../../../src/agent/affairs.ts";
import { readVectors } from "./vectors.ts";

const { cases } = readVectors<{ cases: { wish: string; queries: string[] }[] }>("affairs");

test.each(cases)("a question about one's own affairs shows what to look for: $wish", ({ wish, queries }) => {
  expect(ownQueries(wish)).toEqual(queries);
});
