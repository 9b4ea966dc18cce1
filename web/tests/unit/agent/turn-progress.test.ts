import { describe, expect, test } from "vitest";
import type { ProposedCall } from "../../../src/agent/lane.ts";
import type { Message, Observation, ToolMessage } from "../../../src/agent/messages.ts";
import { isLooping, isRepeat, labelOf, progressOf } from "../../../src/agent/turn-progress.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { descriptor, ok, proposed } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

const tools = [descriptor("look"), descriptor("write", { category: "write" })];

function closed(name: string, args: Record<string, unknown>, result: Observation = ok("done")): ToolMessage {
  return { role: "tool", turnId: "trn_1", call: proposed("call", name, args), result };
}

interface Vectors {
  readonly repeats: readonly {
    name: string;
    proposal: ProposedCall;
    closed: Omit<ToolMessage, "role" | "turnId">[];
    tools: ToolDescriptor[];
    is: boolean;
  }[];
  readonly circles: readonly { name: string; closed: Omit<ToolMessage, "role" | "turnId">[]; is: boolean }[];
}

const vectors = readVectors<Vectors>("standing");
const closedIn = (given: Vectors["circles"][number]["closed"]): ToolMessage[] =>
  given.map((each) => ({ role: "tool", turnId: "trn_1", ...each }));

describe("a call is known again", () => {
  test.each(vectors.repeats)("$name", ({ proposal, closed: before, tools: known, is }) => {
    expect(isRepeat(proposal, closedIn(before), known)).toBe(is);
  });
});

describe("a circle is noticed", () => {
  test.each(vectors.circles)("$name", ({ closed: before, is }) => {
    expect(isLooping(closedIn(before))).toBe(is);
  });
});

test("a turn is named by the tools it used, and by nothing that a model made up", () => {
  expect(labelOf([], tools)).toBe("words");
  expect(labelOf([closed("write", {}), closed("look", {}), closed("rm -rf", {})], tools)).toBe(
    "tool:write+look+unknown",
  );
});

test("only the turn's own messages count", () => {
  const other: Message[] = [
    { role: "user", turnId: "trn_0", content: "before" },
    { ...closed("look", {}), turnId: "trn_0" },
    { role: "assistant", turnId: "trn_0", content: "Done.", toolCalls: [] },
  ];
  expect(progressOf(other, "trn_1")).toEqual({
    message: "",
    finished: 0,
    results: [],
    result: null,
    mistakes: 0,
    closed: [],
  });
});

test("what the person added to a turn counts among their words", () => {
  const said: Message[] = [
    { role: "user", turnId: "trn_1", content: "list notes" },
    { role: "user", turnId: "trn_1", content: "also read a.txt" },
    { role: "user", turnId: "trn_2", content: "thanks" },
  ];
  expect(progressOf(said, "trn_1").message).toBe("list notes\n\nalso read a.txt");
});
