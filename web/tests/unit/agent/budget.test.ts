import fc from "fast-check";
import { expect, test } from "vitest";
import { cut, estimateTokens, fitMessages, tokensOf } from "../../../src/agent/budget.ts";
import type { Message } from "../../../src/agent/messages.ts";
import { ok, proposed } from "./scripted.ts";

function turns(count: number, length: number): Message[] {
  return Array.from({ length: count }, (_, index) => ({
    role: "user",
    turnId: `trn_${index}`,
    content: "x".repeat(length),
  }));
}

test("four characters are a token, rounded up", () => {
  expect([estimateTokens(""), estimateTokens("a"), estimateTokens("abcde")]).toEqual([0, 1, 2]);
});

test("what fits stays whole", () => {
  const messages = turns(3, 40);
  expect(fitMessages(messages, 1000)).toEqual({ messages, dropped: 0, shortened: false });
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

test("a cut text says how much is missing", () => {
  expect(cut("abcdef", 3)).toBe("abc\n…[left out 3 characters]");
  expect(cut("abc", 3)).toBe("abc");
});
