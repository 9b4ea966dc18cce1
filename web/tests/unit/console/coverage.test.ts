import { expect, test } from "vitest";
import { coversUnseen, describeCoverage, pinsOf } from "../../../src/features/console/approvals/coverage.ts";

const call = { tool: "write_file", arguments: { path: "a.txt", content: "x", overwrite: true } };

test("once covers one call and says so", () => {
  expect(describeCoverage({ ...call, scope: "once", freed: null })).toBe(
    "This one call, with exactly these arguments. The next one asks again.",
  );
  expect(pinsOf({ ...call, scope: "once", freed: null })).toBeUndefined();
});

test.each([
  ["turn", "until this turn of the conversation ends"],
  ["session", "in this conversation until the session ends"],
] as const)("a %s grant pins every argument unless one is freed", (scope, span) => {
  const words = describeCoverage({ ...call, scope, freed: null });
  expect(words).toContain(`Every call of write_file with path, content, and overwrite exactly as shown, ${span}.`);
  expect(words).toContain("Any other arguments ask again.");
  expect(pinsOf({ ...call, scope, freed: null })).toEqual(["path", "content", "overwrite"]);
  expect(coversUnseen({ ...call, scope, freed: null })).toBe(false);
});

test("a freed argument is named as what may vary, and is a warning", () => {
  const coverage = { ...call, scope: "turn", freed: "content" } as const;
  expect(describeCoverage(coverage)).toContain(
    "Every call of write_file with path and overwrite exactly as shown and any value of content, until this turn",
  );
  expect(pinsOf(coverage)).toEqual(["path", "overwrite"]);
  expect(coversUnseen(coverage)).toBe(true);
});

test.each([
  [{ argument: "path", kind: "folder", bound: "notes" }, "path anywhere in the folder notes/"],
  [{ argument: "path", kind: "host", bound: "https://example.com" }, "path anywhere at https://example.com"],
  [{ argument: "path", kind: "atMost", bound: 5 }, "path from 0 to 5"],
] as const)("an argument that may vary within a pattern is described by it", (within, words) => {
  const coverage = { ...call, scope: "turn", freed: "path", within } as const;
  expect(describeCoverage(coverage)).toContain(
    `with content and overwrite exactly as shown and ${words}, until this turn`,
  );
  expect(pinsOf(coverage)).toEqual(["content", "overwrite"]);
  expect(coversUnseen(coverage)).toBe(true);
});

test("freeing the only argument says that any value is covered", () => {
  const coverage = { tool: "read_file", arguments: { path: "a" }, scope: "session", freed: "path" } as const;
  expect(describeCoverage(coverage)).toContain("Every call of read_file with any value of path, in this conversation");
  expect(pinsOf(coverage)).toEqual([]);
});

test("a call without arguments reads as one", () => {
  expect(describeCoverage({ tool: "system_status", arguments: {}, scope: "turn", freed: null })).toContain(
    "Every call of system_status without arguments, until this turn",
  );
});
