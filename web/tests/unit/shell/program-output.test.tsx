// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { readProgramOutput } from "../../../src/features/shell/log/program-output.ts";
import { ToolCallView } from "../../../src/features/shell/log/ToolCallView.tsx";

afterEach(cleanup);

const GIVEN = { tool: "run_test", stdout: "1 failed\n2 passed\n", stderr: "", exit_code: 1, duration_sec: 0.41 };

function show(content: string): void {
  const result = { outcome: "ok", content, trust: "untrusted", truncated: false } as const;
  const call = { id: "call_1", name: "run_test", arguments: {} };
  render(<ToolCallView card={{ call, turnId: "trn_1", phase: "closed", result }} onCancel={() => undefined} />);
}

test("a program's lines are lines, and how it ended stands beside the result without opening it", () => {
  show(JSON.stringify(GIVEN));
  expect(screen.getByText(/1 failed/).textContent).toBe("1 failed\n2 passed\n");
  expect(screen.getByText(/Result/).textContent).toBe("Result · exit code 1 · 0.41 s from outside, not verified");
});

test("what it wrote for people is kept apart from what it gave, cut marks and all", () => {
  show(JSON.stringify({ ...GIVEN, stderr: "oops…[truncated 12 bytes]", not_utf8: ["stderr"] }));
  expect(screen.getByText("Error output (stderr, not all of it text)")).toBeTruthy();
  expect(screen.getByText("oops…[truncated 12 bytes]")).toBeTruthy();
});

test("a whole number of seconds may be written with a point", () => {
  expect(readProgramOutput("run_test", JSON.stringify(GIVEN).replace("0.41", "1.0"))?.seconds).toBe(1);
});

test("a program that printed nothing says so", () => {
  show(JSON.stringify({ ...GIVEN, stdout: "", exit_code: 0 }));
  expect(screen.getByText("It printed nothing.")).toBeTruthy();
});

test.each([
  ["no JSON", '{"tool":'],
  ["no object", "[1]"],
  ["a member that would not be seen", JSON.stringify({ ...GIVEN, more: "hidden" })],
  ["a member that stands twice", JSON.stringify(GIVEN).replace("{", '{"stdout":"hidden",')],
  ["another tool's name", JSON.stringify({ ...GIVEN, tool: "hidden" })],
  ["no text", JSON.stringify({ ...GIVEN, stdout: 1 })],
  ["no exit code", JSON.stringify({ ...GIVEN, exit_code: "0" })],
  ["streams nobody knows", JSON.stringify({ ...GIVEN, not_utf8: ["x"] })],
])("any other text is shown as it is: %s", (_why, content) => {
  expect(readProgramOutput("run_test", content)).toBeNull();
  show(content);
  expect(screen.getByText(content)).toBeTruthy();
});
