import fc from "fast-check";
import { expect, test } from "vitest";
import { foldText } from "../../../src/ui/text-fold.ts";

test("a short value stands whole", () => {
  expect(foldText("notes/old.txt")).toBeUndefined();
  expect(foldText("x".repeat(1_500))).toBeUndefined();
});

test("a long value keeps its end, where an addition would hide", () => {
  const folded = foldText(`${"harmless ".repeat(6_000)}; rm -rf ~`);
  expect(folded?.head.startsWith("harmless")).toBe(true);
  expect(folded?.tail.endsWith("; rm -rf ~")).toBe(true);
});

test("many short lines fold too", () => {
  const folded = foldText(`${"a\n".repeat(200)}last`);
  expect(folded?.head).toBe(`${"a\n".repeat(13)}a`);
  expect(folded?.tail).toBe(`${"a\n".repeat(7)}last`);
});

test("head, hidden part and tail make up the whole, and no character is split", () => {
  const long = fc.string({ unit: fc.constantFrom("a", "\n", "😀", "é"), minLength: 1_400, maxLength: 2_400 });
  fc.assert(
    fc.property(long, (text) => {
      const folded = foldText(text);
      if (folded === undefined) return;
      expect([...folded.head].length + folded.hidden + [...folded.tail].length).toBe([...text].length);
      expect(text.startsWith(folded.head) && text.endsWith(folded.tail)).toBe(true);
    }),
    { numRuns: 60 },
  );
});
