import { describe, expect, test } from "vitest";
import { isAskedFor } from "../../../src/agent/asked.ts";
import { isPassedOver } from "../../../src/agent/passed-over.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly ToolDescriptor[];
  readonly cases: readonly {
    readonly name: string;
    readonly message: string;
    readonly wish?: string;
    readonly tool: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    readonly hasCalled: boolean;
    readonly asked: boolean;
  }[];
  readonly passedOver: readonly {
    readonly name: string;
    readonly path: string;
    readonly wish: string;
    readonly is: boolean;
  }[];
}

const { tools, cases, passedOver } = readVectors<Vectors>("asked");

describe("a call runs only for a reason in the person's words", () => {
  test.each(cases)("$name", ({ message, wish, tool, arguments: given, hasCalled, asked }) => {
    const known = tools.find(({ name }) => name === tool) as ToolDescriptor;
    expect(isAskedFor(given, known, message, hasCalled, wish)).toBe(asked);
  });
});

test.each(passedOver)("what a wish names for something else is not deleted: $name", ({ path, wish, is }) => {
  expect(isPassedOver(path, wish)).toBe(is);
});
