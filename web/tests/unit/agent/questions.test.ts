import { expect, test } from "vitest";
import { asksAboutContent } from "../../../src/agent/questions.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly cases: readonly { name: string; wish: string; asks: boolean }[];
}

test.each(readVectors<Vectors>("questions").cases)(
  "a question about a content is told from a wish to see it: $name",
  ({ wish, asks }) => {
    expect(asksAboutContent(wish)).toBe(asks);
  },
);
