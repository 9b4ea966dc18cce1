import { describe, expect, test } from "vitest";
import { directedIn, nextDirected } from "../../../src/agent/directed.ts";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

type Written = readonly [name: string, given: Record<string, unknown>, content: string];

interface DirectedVectors {
  readonly tools: readonly ToolDescriptor[];
  readonly cases: readonly {
    readonly name: string;
    readonly wish: string;
    readonly shown?: Written;
    readonly calls: readonly Written[];
    readonly without?: readonly string[];
    readonly next: readonly [string, Record<string, unknown>] | string | null;
  }[];
}

const { tools, cases } = readVectors<DirectedVectors>("directed");

function made(turnId: string, [name, given, content]: Written): ToolMessage {
  const result = { outcome: "ok", content, trust: "trusted", truncated: false } as const;
  return { role: "tool", turnId, call: { id: "call", name, arguments: given }, result };
}

describe("a change is made of what a look shows", () => {
  test.each(cases)("$name", ({ wish, shown, calls, without = [], next }) => {
    const able = tools.filter(({ name }) => !without.includes(name));
    const before = shown === undefined ? [] : [made("before", shown)];
    const closed = calls.map((written) => made("turn", written));
    const directed = directedIn(wish, before, able);
    if (directed === null) {
      expect(next).toBe("none");
      return;
    }
    const step = closed.length > 0 ? nextDirected(directed, closed, [...before, ...closed], able) : directed.first;
    expect(step !== null && typeof step !== "string" ? [step.name, step.arguments] : step).toEqual(next);
  });
});
