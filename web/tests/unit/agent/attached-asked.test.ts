import { expect, test } from "vitest";
import { attachedFor } from "../../../src/agent/attached-asked.ts";
import type { Message } from "../../../src/agent/messages.ts";
import type { Outcome, ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Attached {
  readonly name: string;
  readonly content: string;
  readonly call?: string;
  readonly turn?: string;
  readonly outcome?: Outcome;
}

const { tools, cases } = readVectors<{
  tools: ToolDescriptor[];
  cases: { name: string; wish: string; attached: Attached[]; asks: string | null }[];
}>("attached-asked");

function attached({ name, content, call = "read_attachment", turn = "t0", outcome = "ok" }: Attached): Message {
  const result = { outcome, content, trust: "untrusted", truncated: false } as const;
  return { role: "tool", turnId: turn, call: { id: "c", name: call, arguments: { name } }, result };
}

test.each(cases)("a question may be about what was attached with it: $name", (each) => {
  const messages: Message[] = [...each.attached.map(attached), { role: "user", turnId: "t1", content: each.wish }];
  const found = attachedFor(each.wish, messages, "t1", tools);
  expect(found?.call.arguments ?? null).toEqual(each.asks === null ? null : { path: each.asks });
  expect(found?.call.name ?? "read_file").toBe("read_file");
  expect(found?.result.content ?? "").not.toContain("bytes:");
  expect(attachedFor(each.wish, messages, "t1", tools.slice(1))).toBeNull();
});
