import { describe, expect, test } from "vitest";
import type { Message, Observation, ToolMessage } from "../../../src/agent/messages.ts";
import { isLooping, isRepeat, labelOf, standingOf } from "../../../src/agent/standing.ts";
import { descriptor, ok, proposed } from "./scripted.ts";

const tools = [descriptor("look"), descriptor("write", { category: "write" })];
const failed: Observation = { outcome: "executionError", content: "", trust: "trusted", truncated: false };

function closed(name: string, args: Record<string, unknown>, result: Observation = ok("done")): ToolMessage {
  return { role: "tool", turnId: "trn_1", call: proposed("call", name, args), result };
}

describe("a call is not made twice", () => {
  const wrote = closed("write", { path: "a", how: { b: 1, a: [1, 2] } });

  test.each([
    ["with its members in another order", { how: { a: [1, 2], b: 1 }, path: "a" }, [wrote], true],
    ["with other calls in between", { path: "a", how: { b: 1, a: [1, 2] } }, [wrote, closed("look", {})], true],
    ["with another value", { path: "a", how: { b: 1, a: [2, 1] } }, [wrote], false],
    ["after it failed", { path: "b" }, [closed("write", { path: "b" }, failed)], false],
    ["before anything was done", { path: "a" }, [], false],
  ])("that changes something, %s", (_name, args, before, repeats) => {
    expect(isRepeat({ name: "write", arguments: args }, before, tools)).toBe(repeats);
  });

  test("that only looks, unless something was done in between", () => {
    const look = { name: "look", arguments: { path: "a" } };
    const looked = closed("look", { path: "a" });
    expect(isRepeat(look, [looked], tools)).toBe(true);
    expect(isRepeat(look, [looked, wrote], tools)).toBe(false);
  });

  test("of a tool that nobody knows", () => {
    expect(isRepeat({ name: "gone", arguments: {} }, [closed("gone", {}), wrote], tools)).toBe(true);
  });
});

test("results that differ are no circle, whatever order arguments stand in", () => {
  const call = closed("look", { a: 1, b: 2 }, ok("x"));
  expect(isLooping([call, closed("look", { b: 2, a: 1 }, ok("x"))])).toBe(true);
  expect(isLooping([call, closed("look", { b: 2, a: 1 }, ok("y"))])).toBe(false);
  expect(isLooping([call, closed("look", { a: 1, b: 2 }, { ...failed, reason: "toolError" })])).toBe(false);
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
  expect(standingOf(other, "trn_1")).toEqual({ message: "", finished: 0, result: null, mistakes: 0, closed: [] });
});
