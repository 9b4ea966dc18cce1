import { expect, test } from "vitest";
import { reckonedIn } from "../../../src/agent/reckoning.ts";
import { readVectors } from "./vectors.ts";

const { cases } = readVectors<{ cases: { wish: string; said: string | null }[] }>("reckoning");

test.each(cases)("a sum that a wish holds whole is worked out: $wish", ({ wish, said }) => {
  expect(reckonedIn(wish)).toBe(said);
});
