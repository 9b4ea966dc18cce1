// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { CheckResult } from "../../../src/features/console/policy/editor/CheckResult.tsx";
import type { CaseFailure } from "../../../src/protocol/generated.ts";

afterEach(cleanup);

function tell(failures: CaseFailure[]) {
  const cases = { total: 3, failed: failures.length, failures };
  render(<CheckResult check={{ faults: [], rules: 2, version: "v2", cases }} onGoTo={() => undefined} />);
}

const FAILURE: CaseFailure = {
  about: "deleting",
  question: "delete a.txt",
  expected: "consent",
  given: "forbidden",
  rules: ["never-delete"],
};

test("a case that does not hold says what it expects, what came out and which rule decided", () => {
  tell([FAILURE]);
  expect(screen.getByText(/expected/).textContent).toBe(
    "delete a.txt: expected “Asks first”, is “Never runs” by never-delete",
  );
});

test("a case that differs only in the rule that decided says so", () => {
  tell([{ ...FAILURE, expected: "forbidden" }]);
  expect(screen.getByText(/as expected/).textContent).toBe(
    "delete a.txt: “Never runs” as expected, but by never-delete, and the case names another rule",
  );
});
