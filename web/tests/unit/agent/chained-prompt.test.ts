import { expect, test } from "vitest";
import { asDialogue } from "../../../src/agent/chained-prompt.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { ok } from "./scripted.ts";

test("calls that were proposed together stand one by one", () => {
  const calls = ["a", "b"].map((id) => ({ id, name: "delete_file", arguments: { path: `${id}.txt` } }));
  const results = calls.map((call): ToolMessage => ({ role: "tool", turnId: "t", call, result: ok("gone") }));
  const told = asDialogue([{ role: "assistant", turnId: "t", content: "", toolCalls: calls }, ...results]);
  expect(told.map(({ content }) => content.split("\n")[0])).toEqual([
    '{"tool":"delete_file","arguments":{"path":"a.txt"}}',
    told[1]?.content.split("\n")[0],
    '{"tool":"delete_file","arguments":{"path":"b.txt"}}',
    told[3]?.content.split("\n")[0],
  ]);
});
