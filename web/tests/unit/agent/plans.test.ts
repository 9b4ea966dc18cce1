import { describe, expect, test } from "vitest";
import { planAtFront } from "../../../src/agent/plans.ts";
import { descriptor } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tools: readonly {
    readonly name: string;
    readonly permission: "auto" | "consent" | "stepUp" | "forbidden";
  }[];
  readonly plans: readonly { readonly name: string; readonly waiting: readonly string[]; readonly together: number }[];
}

const { tools, plans } = readVectors<Vectors>("plans");

describe("what goes together is a run of calls that ask", () => {
  const offered = tools.map(({ name, permission }) => descriptor(name, { permission }));
  test.each(plans)("$name", ({ waiting, together }) => {
    const calls = waiting.map((name, place) => ({ id: String(place), name, arguments: {} }));
    expect(planAtFront(calls, offered)).toEqual(calls.slice(0, together));
  });
});
