import { describe, expect, test } from "vitest";
import { makeExample, type Shot, withExamples } from "../../../src/agent/examples.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly examples: readonly { readonly name: string; readonly tool: ToolDescriptor; readonly expected: Shot }[];
  readonly mixed: readonly {
    readonly name: string;
    readonly shots: readonly Shot[];
    readonly tools: readonly ToolDescriptor[];
    readonly expected: readonly string[];
  }[];
}

const vectors = readVectors<Vectors>("examples");

describe("an example is made of what a tool says", () => {
  test.each(vectors.examples)("$name", ({ tool, expected }) => {
    expect(makeExample(tool)).toEqual(expected);
  });
});

describe("made examples stand", () => {
  test.each(vectors.mixed)("$name", ({ shots, tools, expected }) => {
    expect(withExamples(shots, tools).map(({ user }) => user)).toEqual(expected);
  });
});
