import { expect, test } from "vitest";
import { goesRound, withoutCircles } from "../../../src/agent/circles.ts";
import { readVectors } from "./vectors.ts";

const { cases } = readVectors<{
  readonly cases: readonly { readonly name: string; readonly text: string; readonly kept: string | null }[];
}>("circles");

test.each(cases)("a text that goes round is kept to where it begins to: $name", ({ text, kept }) => {
  expect(goesRound(text)).toBe(kept !== null);
  expect(withoutCircles(text)).toBe(kept ?? text);
});
