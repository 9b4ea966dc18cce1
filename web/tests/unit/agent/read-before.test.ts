import { expect, test } from "vitest";
import type { Message } from "../../../src/agent/messages.ts";
import { readAgain } from "../../../src/agent/read-before.ts";
import type { Outcome, ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

const { tools, content, cases } = readVectors<{
  tools: ToolDescriptor[];
  content: string;
  cases: {
    name: string;
    wish: string;
    outcome?: Outcome;
    call?: string;
    turn?: string;
    none?: boolean;
    reads: boolean;
  }[];
}>("read-before");
const PATH = { path: "trip.txt" };

test.each(cases)("a question about the file that was read before reads it again: $name", (each) => {
  const read: Message = {
    role: "tool",
    turnId: each.turn ?? "t0",
    call: { id: "c", name: each.call ?? "read_file", arguments: PATH },
    result: { outcome: each.outcome ?? "ok", content, trust: "untrusted", truncated: false },
  };
  const messages: Message[] = [
    ...(each.none === true ? [] : [read]),
    { role: "user", turnId: "t1", content: each.wish },
  ];
  const expected = each.reads ? { name: "read_file", arguments: PATH } : null;
  expect(readAgain(each.wish, messages, "t1", tools)).toEqual(expected);
  expect(readAgain(each.wish, messages, "t1", tools.slice(1))).toBeNull();
});
