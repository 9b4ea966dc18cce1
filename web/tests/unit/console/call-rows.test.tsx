// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { CallRows } from "../../../src/features/console/audit/CallRows.tsx";
import { EMPTY_VIEW } from "../../../src/features/console/audit/calls-view.ts";
import type { AuditedCall } from "../../../src/protocol/generated.ts";

afterEach(cleanup);

const call = (changes: Partial<AuditedCall>): AuditedCall => ({
  position: 1,
  conversationId: "cnv_1",
  callId: "call_1",
  turnId: "trn_1",
  at: "2026-11-21T09:00:00.000Z",
  principalId: "usr_ada",
  principalName: "Ada",
  tool: "write_file",
  outcome: "ok",
  rules: [],
  ...changes,
});

function rowOf(changes: Partial<AuditedCall>): string {
  render(<CallRows calls={[call(changes)]} view={EMPTY_VIEW} />);
  const text = screen.getByRole("link").textContent ?? "";
  cleanup();
  return text;
}

test("a call that came to nothing has words for why, and no decision that nobody took", () => {
  const refused = rowOf({ outcome: "executionError", decision: "forbidden", reason: "toolError" });
  expect(refused).toContain("Failed before it ran");
  expect(refused).toMatch(/AdaThe tool reported an errorno model$/);
  const startedAt = "2026-11-21T09:00:00.000Z";
  expect(rowOf({ outcome: "executionError", decision: "auto", startedAt })).toContain("Failed while running");
  expect(rowOf({ outcome: "cancelled", decision: "denied", reason: "sessionEnded" })).toMatch(
    /AdaThe turn or its session endedno model$/,
  );
  expect(rowOf({ outcome: "refusedByPolicy", decision: "forbidden", reason: "forbidden" })).toMatch(
    /AdaForbidden, no rule allows itno model$/,
  );
  expect(rowOf({ outcome: "cancelled", reason: "ofAnotherBuild" })).toMatch(/AdaOfAnotherBuildno model$/);
});

test("a model behind a URL goes by its name, and what is left out of a long one is not its own character", () => {
  expect(rowOf({ modelId: "remote:127.0.0.1:50683:llama3:8b" })).toMatch(/llama3:8b$/);
  expect(rowOf({ modelId: `local:${"ab".repeat(32)}` })).toMatch(/local:(ab){11}…$/);
});

test("a call without the name of its tool says that there is none only where somebody looked", () => {
  const { tool: _tool, ...withoutTool } = call({});
  const named = (outcome: string) => {
    render(<CallRows calls={[{ ...withoutTool, outcome }]} view={EMPTY_VIEW} />);
    const text = screen.getByRole("link").textContent;
    cleanup();
    return text;
  };
  expect(named("unknownTool")).toContain("no such tool");
  expect(named("refusedByPolicy")).toContain("tool not looked for");
});
