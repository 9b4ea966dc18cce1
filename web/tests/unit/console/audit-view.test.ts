import { expect, test } from "vitest";
import { readableBody, summarize } from "../../../src/features/console/audit/entry.ts";
import { filterOf, readView, writeView } from "../../../src/features/console/audit/filters.ts";

test("a view survives in the address, and an empty one leaves no trace", () => {
  const view = { event: "call:closed", tool: "write_file", outcome: "ok", conversation: "cnv_1" };
  expect(readView(writeView(view))).toEqual(view);
  expect(writeView(readView(""))).toBe("");
});

test("the filter asks only for what is wanted, within what the gateway takes", () => {
  expect(filterOf(readView(""))).toBeUndefined();
  expect(filterOf(readView(`?tool=${"x".repeat(500)}&conversation=${"c".repeat(100)}`))).toEqual({
    tool: "x".repeat(128),
    conversationId: "c".repeat(64),
  });
});

function summaryOf(body: Record<string, unknown>) {
  return summarize({ index: 0, hash: "0".repeat(64), body });
}

test("an entry is shown in words", () => {
  const at = Date.UTC(2026, 10, 21);
  const closed = {
    event: "call:closed",
    at,
    tool: "delete_file",
    outcome: "timedOut",
    reason: "approvalExpired",
    decision: "denied",
  };
  expect(summaryOf(closed)).toEqual({
    at: "2026-11-21T00:00:00.000Z",
    event: "Call closed",
    tool: "delete_file",
    outcome: "Timed out, nobody decided in time",
    decision: "Denied",
  });
  const unknown = { event: "call:closed", at, outcome: "ok", reason: "ofAnotherBuild", decision: "ofAnotherBuild" };
  expect(summaryOf(unknown)).toMatchObject({ outcome: "Ran, ofAnotherBuild", decision: "ofAnotherBuild" });
  const denied = { event: "call:closed", at, outcome: "deniedByUser", reason: "denied", decision: "denied" };
  expect(summaryOf(denied)).toMatchObject({ outcome: "Denied by a person", decision: "Denied" });
  expect(summaryOf({ event: "approval:resolved", at, status: "approved" }).outcome).toBe("approved");
  expect(summaryOf({ event: "approval:resolved", at, status: "expired" }).outcome).toBe("none in time");
  expect(summaryOf({ event: "model:answered", at, outcome: "completed" }).outcome).toBe("Completed");
  expect(summaryOf({ event: "console-session:renewed", at }).event).toBe("Confirmed with the passkey");
});

test("an entry with fields missing or of another type is still shown", () => {
  expect(summaryOf({})).toMatchObject({ event: "unknown", tool: undefined, outcome: undefined });
  expect(summaryOf({ event: 7, tool: null, at: "soon" })).toMatchObject({
    at: "1970-01-01T00:00:00.000Z",
    event: "unknown",
  });
});

test("a body is told with times that can be read, and without what says nothing", () => {
  const at = Date.UTC(2026, 10, 21);
  const body = { event: "call:closed", at, expiresAt: at, because: [], format: 7, rules: ["a"] };
  const read = "2026-11-21T00:00:00.000Z";
  expect(readableBody(body)).toEqual({ event: "call:closed", at: read, expiresAt: read, format: 7, rules: ["a"] });
});
