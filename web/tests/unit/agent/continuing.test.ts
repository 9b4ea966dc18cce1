import { expect, test } from "vitest";
import { continued, unfinishedWord } from "../../../src/agent/continuing.ts";
import { readVectors } from "./vectors.ts";

interface Case {
  readonly name: string;
  readonly before: string;
  readonly again: string;
  readonly more: string;
  readonly whole: string;
}

const { cases } = readVectors<{ readonly cases: readonly Case[] }>("continuing");

test.each(cases)("an answer goes on as one text: $name", ({ before, again, more, whole }) => {
  expect(before.slice(0, before.length - unfinishedWord(before).length)).toBe(again);
  expect(continued(before, more)).toBe(whole);
});

test.each(cases)("what was shown of it is never taken back: $name", ({ before, more }) => {
  let shown = before;
  for (let end = 0; end <= more.length; end += 1) {
    const longer = continued(before, more.slice(0, end));
    expect(longer.startsWith(shown)).toBe(true);
    shown = longer;
  }
});
