import { expect, test, vi } from "vitest";
import { withForeseen } from "../../../src/agent/foreseen.ts";
import type { Lane, LaneInput } from "../../../src/agent/lane.ts";
import { descriptor } from "./scripted.ts";

test("words of a step that is chosen ahead are not told, and its cost is", async () => {
  const listener = {
    streamed: vi.fn(),
    discarded: vi.fn(),
    counted: vi.fn(),
    filled: vi.fn(),
    trimmed: vi.fn(),
    cut: vi.fn(),
  };
  const choose: Lane = async ({ listener: ahead }) => {
    ahead.streamed("Deleting");
    ahead.discarded();
    ahead.counted(7, 2, true);
    ahead.filled(90, 80);
    ahead.trimmed(1);
    ahead.cut("length");
    return { kind: "calls", text: "", proposals: [{ name: "drop", arguments: { path: "b.txt" } }] };
  };
  const tools = [descriptor("drop", { permission: "consent", category: "destructive" })];
  const input = { messages: [], shown: [], turnId: "t1", tools, actions: null, listener } as unknown as LaneInput;
  const step = await withForeseen(input, { name: "drop", arguments: { path: "a.txt" } }, ["remove b.txt"], choose);
  expect(step).toMatchObject({ proposals: [{ arguments: { path: "a.txt" } }, { arguments: { path: "b.txt" } }] });
  expect(listener.streamed).not.toHaveBeenCalled();
  expect(listener.discarded).not.toHaveBeenCalled();
  expect(listener.counted).toHaveBeenCalledExactlyOnceWith(7, 2, true);
  expect(listener.filled).toHaveBeenCalledExactlyOnceWith(90, 80);
  expect(listener.trimmed).toHaveBeenCalledExactlyOnceWith(1);
  expect(listener.cut).toHaveBeenCalledExactlyOnceWith("length");
});
