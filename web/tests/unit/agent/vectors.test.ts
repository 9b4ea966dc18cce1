import { describe, expect, test } from "vitest";
import { chainedPrefix } from "../../../src/agent/chained-prompt.ts";
import { actionPrefix } from "../../../src/agent/prompts.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly ToolDescriptor[];
  readonly messages: readonly unknown[];
  readonly chained: readonly unknown[];
}

const vectors = readVectors<Vectors>("action-prefix");

describe("both languages begin a conversation with the same bytes", () => {
  test("of a model that picks one action", () => {
    expect(actionPrefix(vectors.tools)).toEqual(vectors.messages);
  });

  test("of a model that reads what it finds", () => {
    expect(chainedPrefix(vectors.tools)).toEqual(vectors.chained);
  });
});
