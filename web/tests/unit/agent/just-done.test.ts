import { expect, test } from "vitest";
import { readingOfDone } from "../../../src/agent/just-done.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

type Tool = Pick<ToolDescriptor, "name" | "description" | "category" | "paramSchema">;

interface Vectors {
  readonly tools: Readonly<Record<string, Tool>>;
  readonly cases: readonly {
    readonly name: string;
    readonly wish: string;
    readonly tools: readonly string[];
    readonly calls: readonly {
      readonly tool: string;
      readonly arguments: Record<string, unknown>;
      readonly outcome: "ok";
      readonly content: string;
    }[];
    readonly call: readonly [string, Record<string, unknown>] | null;
  }[];
}

const { tools, cases } = readVectors<Vectors>("just-done");

test.each(cases)("what was just done is shown: $name", ({ wish, tools: names, calls, call }) => {
  const closed = calls.map(
    ({ tool, arguments: given, outcome, content }): ToolMessage => ({
      role: "tool",
      turnId: "t",
      call: { id: "c", name: tool, arguments: given },
      result: { outcome, content, trust: "untrusted", truncated: false },
    }),
  );
  const offered = names.map((name) => tools[name] as Tool);
  const expected = call === null ? null : { name: call[0], arguments: call[1] };
  expect(readingOfDone(wish, closed, offered)).toEqual(expected);
});
