import { describe, expect, test } from "vitest";
import { LoopDetector } from "../../../src/agent/loops.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly loops: readonly { name: string; steps: readonly [string, string, string][]; closes: readonly boolean[] }[];
}

describe("a circle is noticed the second time round", () => {
  test.each(readVectors<Vectors>("loops").loops)("$name", ({ steps, closes }) => {
    const detector = new LoopDetector();
    expect(steps.map((step) => detector.note(...step))).toEqual(closes);
  });
});
