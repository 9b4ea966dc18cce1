import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cut, estimateTokens, fitMessages, tokensOf } from "../../../src/agent/budget.ts";
import type { Message } from "../../../src/agent/messages.ts";
import { ok, proposed } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly tokens: readonly { name: string; text: string; tokens: number }[];
  readonly cuts: readonly { name: string; text: string; length: number; cut: string }[];
  readonly fits: readonly { name: string; messages: Message[]; maxTokens: number; fitted: unknown }[];
}

const vectors = readVectors<Vectors>("budget");

function turns(count: number, length: number): Message[] {
  return Array.from({ length: count }, (_, index) => ({
    role: "user",
    turnId: `trn_${index}`,
    content: "x".repeat(length),
  }));
}

describe("four characters are a token, rounded up", () => {
  test.each(vectors.tokens)("$name", ({ text, tokens }) => expect(estimateTokens(text)).toBe(tokens));
});

describe("a cut text says how much is missing", () => {
  test.each(vectors.cuts)("$name", ({ text, length, cut: expected }) => expect(cut(text, length)).toBe(expected));
});

describe("the newest part that fits is kept", () => {
  test.each(vectors.fits)("$name", ({ messages, maxTokens, fitted }) => {
    expect(fitMessages(messages, maxTokens)).toEqual(fitted);
  });
});

test("whole turns go, several at once, so that the beginning of the prompt holds for a while", () => {
  const dropped = [10, 11, 12, 13, 14].map((count) => fitMessages(turns(count, 400), 900).dropped);
  expect(dropped).toEqual([4, 4, 4, 8, 8]);
});

test("the turn under way stays, its results cut and saying so", () => {
  const call = proposed("call_1", "read_file");
  const messages: Message[] = [
    ...turns(2, 400),
    { role: "user", turnId: "now", content: "read it" },
    { role: "assistant", turnId: "now", content: "", toolCalls: [call] },
    { role: "tool", turnId: "now", call, result: ok("word ".repeat(5_000)) },
  ];
  const fitted = fitMessages(messages, 500);
  expect(fitted).toMatchObject({ dropped: 2, shortened: true });
  expect(fitted.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(tokensOf(fitted.messages)).toBeLessThanOrEqual(500);
  expect(JSON.stringify(fitted.messages)).toContain("left out");
});

test("the present turn is never dropped and results never lose their calls", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(2000), { minLength: 1, maxLength: 20 }), fc.nat(3000), (lengths, room) => {
      const messages = lengths.map(
        (length, index): Message => ({ role: "user", turnId: `${index}`, content: "y".repeat(length) }),
      );
      const fitted = fitMessages(messages, room);
      expect(fitted.messages.at(-1)?.turnId).toBe(`${lengths.length - 1}`);
      expect(fitted.messages.length).toBe(lengths.length - fitted.dropped);
    }),
  );
});
