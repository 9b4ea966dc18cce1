import { expect, test } from "vitest";
import { withWholeAction, withWholeWishes } from "../../../src/agent/follow-ups.ts";
import type { Message } from "../../../src/agent/messages.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly ToolDescriptor[];
  readonly calls: Readonly<
    Record<
      string,
      {
        readonly tool: string;
        readonly arguments: Record<string, unknown>;
        readonly outcome?: "executionError";
        readonly content: string;
      }
    >
  >;
  readonly cases: readonly {
    readonly name: string;
    readonly before: readonly (readonly [string, ...(string | null)[]])[];
    readonly say: string;
    readonly whole: string;
  }[];
  readonly actions: readonly {
    readonly name: string;
    readonly actions: readonly string[] | null;
    readonly calls: readonly string[];
    readonly told: number;
    readonly whole: readonly string[] | null;
  }[];
}

const vectors = readVectors<Vectors>("follow-ups");

/** What a call of the vectors leaves in a conversation. */
function made(turnId: string, name: string): Message[] {
  const told = vectors.calls[name] as Vectors["calls"][string];
  const call = { id: `${turnId}-${name}`, name: told.tool, arguments: told.arguments };
  const { outcome = "ok", content } = told;
  return [
    { role: "assistant", turnId, content: "", toolCalls: [call] },
    { role: "tool", turnId, call, result: { outcome, content, trust: "untrusted", truncated: false } },
  ];
}

function answered(turnId: string): Message {
  return { role: "assistant", turnId, content: "Here it is.", toolCalls: [] };
}

test.each(vectors.cases)("what a wish leaves out is put in: $name", ({ before, say, whole }) => {
  const earlier = before.flatMap(([content, ...calls], number): Message[] => {
    const turnId = `trn_${number}`;
    const done = calls.flatMap((call) => (call === null ? [] : made(turnId, call)));
    return [{ role: "user", turnId, content }, ...done, answered(turnId)];
  });
  const user = (content: string): Message => ({ role: "user", turnId: "trn_now", content });
  const messages = withWholeWishes([...earlier, user(say), user("and also this")], vectors.tools);
  expect(messages.slice(-2)).toEqual([user(whole), user("and also this")]);
});

test.each(vectors.actions)("of several wishes one names the file of the one before it: $name", (given) => {
  const messages: Message[] = [
    { role: "user", turnId: "t", content: "show the tools and add nails" },
    ...given.calls.flatMap((call) => made("t", call)),
    ...Array.from({ length: given.told }, () => answered("t")),
  ];
  expect(withWholeAction(given.actions, messages, "t", vectors.tools)).toEqual(given.whole);
});
