import { describe, expect, test } from "vitest";
import type { DescribedTool } from "../../../src/agent/wish-verbs.ts";
import { wishesIn } from "../../../src/agent/wishes.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly DescribedTool[];
  readonly cases: readonly { name: string; message: string; wishes: string[] }[];
}

const vectors = readVectors<Vectors>("wishes");

test("a long text is to be worked on, and not taken apart", () => {
  expect(wishesIn("open a.txt and delete b.txt; ".repeat(80), vectors.tools)).toEqual([]);
});

describe("each wish stands by itself", () => {
  test.each(vectors.cases)("$name", ({ message, wishes }) => expect(wishesIn(message, vectors.tools)).toEqual(wishes));
});
