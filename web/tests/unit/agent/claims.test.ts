import { describe, expect, test } from "vitest";
import { askedActs, type ClosedCall, isNamedIn, leftUndone } from "../../../src/agent/acts.ts";
import { withoutFalseClaims } from "../../../src/agent/claims.ts";
import type { Category, Outcome } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

interface WrittenCall {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly outcome: Outcome;
  readonly content: string;
}

interface Vectors {
  readonly tools: readonly { name: string; category: Category }[];
  readonly asked: readonly { name: string; message: string; acts: [string, string, string[]][] }[];
  readonly undone: readonly { name: string; message: string; calls: WrittenCall[]; rest: string[] }[];
  readonly named: readonly { name: string; said: string; undone: string; named: boolean }[];
  readonly kept: readonly {
    name: string;
    message: string;
    calls: WrittenCall[];
    earlier: WrittenCall[];
    text: string;
    kept: string;
  }[];
}

const vectors = readVectors<Vectors>("claims");

const closed = (calls: readonly WrittenCall[]): ClosedCall[] =>
  calls.map(({ tool, arguments: given, outcome, content }) => ({
    call: { name: tool, arguments: given },
    result: { outcome, content, trust: "untrusted", truncated: false },
  }));

describe("a message asks for", () => {
  test.each(vectors.asked)("$name", ({ message, acts }) => {
    expect(askedActs(message).map(({ act, verb, things }) => [act, verb, things])).toEqual(acts);
  });
});

describe("a turn leaves undone", () => {
  test.each(vectors.undone)("$name", ({ message, calls, rest }) => {
    expect(leftUndone(message, closed(calls), vectors.tools)).toEqual(rest);
  });
});

describe("what words already name is not named again", () => {
  test.each(vectors.named)("$name", ({ said, undone, named }) => {
    expect(isNamedIn(said, undone)).toBe(named);
  });
});

describe("a claim stands only where a call is on record", () => {
  test.each(vectors.kept)("$name", ({ message, calls, earlier, text, kept }) => {
    const record = { message, closed: closed(calls), earlier: closed(earlier), tools: vectors.tools };
    expect(withoutFalseClaims(text, record)).toBe(kept);
  });
});
