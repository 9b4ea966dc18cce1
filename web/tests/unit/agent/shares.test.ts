import { describe, expect, test } from "vitest";
import type { Message } from "../../../src/agent/messages.ts";
import { mayBeCut, shareRoom } from "../../../src/agent/shares.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly shares: readonly {
    name: string;
    messages: Message[];
    limit: number;
    tools: { name: string }[];
    contents: string[];
    isNew: boolean;
  }[];
  readonly lengths: readonly { name: string; content: string; contextTokens: number; maybe: boolean }[];
}

const vectors = readVectors<Vectors>("shares");

describe("a model gets a share of what is left", () => {
  test.each(vectors.shares)("$name", ({ messages, limit, tools, contents, isNew }) => {
    const shared = shareRoom(messages, limit, tools);
    expect(shared.messages.flatMap((each) => (each.role === "tool" ? [each.result.content] : []))).toEqual(contents);
    expect(shared.isNew).toBe(isNew);
    // The messages themselves are as they were.
    expect(messages.map(({ role }) => role)).toEqual(shared.messages.map(({ role }) => role));
  });
});

describe("a result may be cut where it is longer than half of the least share", () => {
  test.each(vectors.lengths)("$name", ({ content, contextTokens, maybe }) =>
    expect(mayBeCut(content, contextTokens)).toBe(maybe),
  );
});
