import { expect, test } from "vitest";
import { actionSchema } from "../../../src/agent/action-schema.ts";
import { copyableStrings } from "../../../src/agent/copied.ts";
import { foundNames, withFound } from "../../../src/agent/found.ts";
import type { Message } from "../../../src/agent/messages.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { descriptor } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly Pick<ToolDescriptor, "name" | "category">[];
  readonly cases: readonly {
    readonly name: string;
    readonly calls: readonly {
      readonly tool: string;
      readonly arguments: Record<string, unknown>;
      readonly outcome: "ok";
      readonly content: string;
    }[];
    readonly names: readonly string[];
  }[];
}

const { tools, cases } = readVectors<Vectors>("found");

test.each(cases)("names are those that a listing or a search begins its lines with: $name", ({ calls, names }) => {
  const messages = calls.map(
    ({ tool, arguments: given, outcome, content }): Message => ({
      role: "tool",
      turnId: "t",
      call: { id: "c", name: tool, arguments: given },
      result: { outcome, content, trust: "untrusted", truncated: false },
    }),
  );
  expect(foundNames(messages, tools)).toEqual(names);
});

test("a found name may be read and neither written nor deleted", () => {
  const own = copyableStrings([{ role: "user", turnId: "t", content: "find a.txt" }]);
  const paramSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const offered = [
    descriptor("read_file", { category: "read", paramSchema }),
    descriptor("delete_file", { category: "destructive", paramSchema }),
  ];
  const schema = JSON.stringify(actionSchema(offered, own, withFound(own, ["found.txt"])));
  expect(schema).toContain(
    '{"tool":{"const":"read_file"},"arguments":{"type":"object","properties":{"path":{"enum":["a.txt","found.txt"]}}',
  );
  expect(schema).toContain(
    '{"tool":{"const":"delete_file"},"arguments":{"type":"object","properties":{"path":{"enum":["a.txt"]}}',
  );
});
