import { expect, test } from "vitest";
import { comparisonIn, type FileComparison, nextCompared } from "../../../src/agent/comparing.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

const { tools, wishes, steps } = readVectors<{
  tools: [ToolDescriptor, ToolDescriptor];
  wishes: { wish: string; files: string[] | null; measure: string | null }[];
  steps: {
    name: string;
    wish: string;
    read: [string, string, boolean?][];
    call?: [string, Record<string, string>];
    says?: string;
  }[];
}>("comparing");

function readFile([path, content, truncated = false]: [string, string, boolean?]): ToolMessage {
  return {
    role: "tool",
    turnId: "t",
    call: { id: "c", name: "read_file", arguments: { path } },
    result: { outcome: "ok", content, trust: "untrusted", truncated },
  };
}

test.each(wishes)("a wish shows which files it compares: $wish", ({ wish, files, measure }) => {
  expect(comparisonIn(wish, tools)).toEqual(files === null ? null : { files, measure });
});

test.each(steps)("all files are read and then compared: $name", ({ wish, read, call, says }) => {
  const step = nextCompared(comparisonIn(wish, tools) as FileComparison, read.map(readFile), tools);
  expect(step).toEqual(says ?? { name: call?.[0], arguments: call?.[1] });
});

test("nothing is compared where no tool reads", () => {
  expect(comparisonIn("compare a.txt and b.txt", [tools[0]])).toBeNull();
});
