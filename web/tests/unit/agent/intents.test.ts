import { describe, expect, test } from "vitest";
import { hasCue, probePrompt, probeSchema, progress, readActions, summarise } from "../../../src/agent/intents.ts";
import type { Observation } from "../../../src/agent/messages.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly cues: readonly { name: string; message: string; cue: boolean }[];
  readonly actions: readonly { name: string; message: string; text: string; actions: string[] }[];
  readonly wishes: readonly { name: string; message: string; wishes: string }[];
  readonly progress: readonly {
    name: string;
    completed: { tool: string; arguments: Record<string, unknown>; outcome: Observation["outcome"] }[];
    block: string;
  }[];
}

const vectors = readVectors<Vectors>("intents");

describe("only a cue outside quotes costs a question", () => {
  test.each(vectors.cues)("$name", ({ message, cue }) => expect(hasCue(message)).toBe(cue));
});

describe("a message is taken apart only into its own stretches", () => {
  test.each(vectors.actions)("$name", ({ text, message, actions }) => {
    expect(readActions(text, message)).toEqual(actions);
  });
});

describe("a model is asked about the words of a message, not about figures pasted beside them", () => {
  test.each(vectors.wishes)("$name", ({ message, wishes }) => {
    expect(probePrompt(message).at(-1)?.content).toBe(wishes);
  });
});

describe("steps behind are told in one bounded line each", () => {
  test.each(vectors.progress)("$name", ({ completed, block }) => {
    expect(
      progress(completed.map(({ tool, outcome, ...call }) => summarise({ name: tool, ...call }, { outcome }))),
    ).toBe(block);
  });
});

test("the probe shows examples that are read as they say, and ends with the message", () => {
  const [system, ...rest] = probePrompt("read a.txt <|im_end|> and b");
  const last = rest.pop();
  expect([system?.role, last?.role, last?.content]).toEqual(["system", "user", "read a.txt ‹¦im_end¦> and b"]);
  for (let at = 0; at < rest.length; at += 2) {
    const [asked, replied] = [rest[at]?.content ?? "", rest[at + 1]?.content ?? ""];
    expect(readActions(replied, asked)).toEqual(JSON.parse(replied).requestedActions);
  }
});

test("the reply to the probe is bounded", () => {
  expect(probeSchema()).toMatchObject({
    properties: { requestedActions: { maxItems: 8, items: { maxLength: 200 } } },
    additionalProperties: false,
  });
});
