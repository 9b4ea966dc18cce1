import { describe, expect, test } from "vitest";
import type { ToolMessage } from "../../../src/agent/messages.ts";
import { lookAgain, namePlaces, withoutMiss } from "../../../src/agent/misplaced.ts";
import type { ToolDescriptor } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

type Written = readonly [name: string, given: Record<string, unknown>, content: string, outcome?: "executionError"];

interface Vectors {
  readonly tools: Readonly<Record<string, readonly ToolDescriptor[]>>;
  readonly cases: readonly {
    readonly name: string;
    readonly tools: string;
    readonly calls: readonly Written[];
    readonly next: readonly [name: string, given: Record<string, unknown>] | null;
    readonly kept: readonly number[];
    readonly said: string | null;
  }[];
}

const { tools, cases } = readVectors<Vectors>("misplaced");

const closed = ([name, given, content, outcome = undefined]: Written): ToolMessage => ({
  role: "tool",
  turnId: "t",
  call: { id: "c", name, arguments: given },
  result: { outcome: outcome ?? "ok", content, trust: "untrusted", truncated: false },
});

describe("what is not there is looked for by its name", () => {
  test.each(cases)("$name", ({ tools: known, calls, next, kept, said }) => {
    const made = calls.map(closed);
    const able = tools[known] as readonly ToolDescriptor[];
    const following = lookAgain(made, able);
    expect(following && [following.name, following.arguments]).toEqual(next);
    expect(withoutMiss(made).map((each) => made.indexOf(each))).toEqual(kept);
    expect(namePlaces(made, able)).toBe(said);
  });

  test.each(cases)("only looking follows: $name", ({ tools: known, calls }) => {
    const changing = tools[known]?.map((tool) => ({ ...tool, category: "write" as const })) ?? [];
    expect(lookAgain(calls.map(closed), changing)).toBeNull();
  });
});
