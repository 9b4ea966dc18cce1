import { describe, expect, test } from "vitest";
import words from "../../../../loop/prompts.json" with { type: "json" };
import { looksLikePlanning, MAX_NUDGES, nudge } from "../../../src/agent/nudges.ts";
import { readVectors } from "./vectors.ts";

interface Vectors {
  readonly planning: readonly { text: string; planning: boolean }[];
  readonly nudges: readonly { number: number; message: unknown }[];
}

const vectors = readVectors<Vectors>("nudges");

describe("only announced steps are planning", () => {
  test.each(vectors.planning)("$text", ({ text, planning }) => {
    expect(looksLikePlanning(text)).toBe(planning);
  });
});

test.each(vectors.nudges)("each nudge has its words: $number", ({ number, message }) => {
  expect(nudge(number)).toEqual(message);
});

test("there are words for every nudge", () => {
  expect(words.nudges).toHaveLength(MAX_NUDGES);
});

test("a long reply of blanks is looked at once", () => {
  const began = process.cpuUsage();
  expect(looksLikePlanning(`a${" \n".repeat(100_000)}a`)).toBe(false);
  expect(process.cpuUsage(began).user).toBeLessThan(5_000_000);
});
