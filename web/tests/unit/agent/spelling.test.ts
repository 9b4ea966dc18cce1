import { expect, test } from "vitest";
import type { Message } from "../../../src/agent/messages.ts";
import { spelledAsKnown } from "../../../src/agent/spelling.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly Pick<ToolDescriptor, "name" | "category">[];
  readonly cases: readonly {
    readonly name: string;
    readonly says: readonly string[];
    readonly calls: readonly {
      readonly tool: string;
      readonly arguments: Record<string, unknown>;
      readonly outcome: "ok";
      readonly content: string;
    }[];
    readonly given: Record<string, unknown>;
    readonly called: Record<string, unknown>;
  }[];
}

const { tools, cases } = readVectors<Vectors>("spelling");

test.each(cases)("a path is called in the capitals that the conversation knows: $name", (one) => {
  const said = one.says.map((content): Message => ({ role: "user", turnId: "t", content }));
  const closed = one.calls.map(
    ({ tool, arguments: given, outcome, content }): Message => ({
      role: "tool",
      turnId: "t",
      call: { id: "c", name: tool, arguments: given },
      result: { outcome, content, trust: "untrusted", truncated: false },
    }),
  );
  expect(spelledAsKnown(one.given, [...said, ...closed], tools)).toEqual(one.called);
});
