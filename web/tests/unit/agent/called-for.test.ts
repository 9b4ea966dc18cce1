import { describe, expect, test } from "vitest";
import { toolsCalledFor } from "../../../src/agent/called-for.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly ToolDescriptor[];
  readonly cases: readonly {
    readonly name: string;
    readonly wish: string;
    readonly isOrder: boolean;
    readonly tools: readonly string[];
  }[];
}

const { tools, cases } = readVectors<Vectors>("called-for");

describe("a wish asks for a tool by its words", () => {
  test.each(cases)("$name", ({ wish, isOrder, tools: called }) => {
    expect(toolsCalledFor(wish, tools, isOrder).map(({ name }) => name)).toEqual(called);
  });
});
