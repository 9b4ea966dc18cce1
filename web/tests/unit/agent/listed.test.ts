import { expect, test } from "vitest";
import limits from "../../../../loop/limits.json" with { type: "json" };
import { copy } from "../../../src/agent/copy.ts";
import { fill } from "../../../src/agent/fill.ts";
import { answerListing } from "../../../src/agent/listed.ts";
import { readVectors } from "./vectors.ts";

interface Listing {
  readonly wish: string;
  readonly name: string;
  readonly text: string;
}

const vectors = readVectors<{ listings: (Listing & { answer: string | null })[]; long: Listing }>("listed");

test.each(vectors.listings)(
  "what a folder holds is told without a model: $wish $text",
  ({ wish, name, text, answer }) => {
    expect(answerListing(wish, { name, text, whole: true, hasLines: false })).toBe(answer);
  },
);

test("a long listing says how much of it is left out", () => {
  const { wish, name, text } = vectors.long;
  const said = answerListing(wish, { name, text, whole: true, hasLines: false }) ?? "";
  expect(said.startsWith("There are 120 entries in `photos`:\n\n```\n- photo-001.jpg")).toBe(true);
  expect(said.endsWith(fill(copy.leftOut, () => `${120 - limits.excerptLines}`))).toBe(true);
});
