import { expect, test } from "vitest";
import { clockFace, relativeTime, spokenDuration } from "../../../src/ui/durations.ts";

test.each([
  [-5_000, "0:00"],
  [0, "0:00"],
  [400, "0:01"],
  [65_000, "1:05"],
  [3_723_000, "1:02:03"],
])("%d ms left reads %s", (left, face) => {
  expect(clockFace(left)).toBe(face);
});

test.each([
  [1_000, "1 second"],
  [59_001, "60 seconds"],
  [90_000, "2 minutes"],
  [2 * 3_600_000, "2 hours"],
  [50 * 3_600_000, "3 days"],
])("%d ms is said as %s", (left, words) => {
  expect(spokenDuration(left)).toBe(words);
});

test.each([
  [-10_000, "just now"],
  [-300_000, "5 minutes ago"],
  [7_200_000, "in 2 hours"],
  [-86_400_000, "yesterday"],
  [-59 * 86_400_000, "59 days ago"],
  [-91 * 86_400_000, "3 months ago"],
  [-1_110 * 86_400_000, "3 years ago"],
])("%d ms from now reads %s", (apart, words) => {
  expect(relativeTime(1_000_000_000_000 + apart, 1_000_000_000_000)).toBe(words);
});
