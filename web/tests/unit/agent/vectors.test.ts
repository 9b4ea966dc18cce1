import { describe, expect, test } from "vitest";
import { actionPrefix } from "../../../src/agent/prompts.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly ToolDescriptor[];
  readonly messages: readonly unknown[];
  readonly messagesWithMore: readonly unknown[];
}

const vectors = readVectors<Vectors>("action-prefix");

describe("both languages begin a conversation with the same bytes", () => {
  test("of a model that is asked about further actions apart", () => {
    expect(actionPrefix(vectors.tools)).toEqual(vectors.messages);
  });

  test("of a model that says beside a call whether others follow", () => {
    expect(actionPrefix(vectors.tools, true)).toEqual(vectors.messagesWithMore);
  });
});
