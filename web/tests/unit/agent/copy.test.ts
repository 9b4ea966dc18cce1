import { expect, test } from "vitest";
import { copy, explainCut, explainOutcome } from "../../../src/agent/copy.ts";
import type { Observation } from "../../../src/agent/messages.ts";
import type { Outcome, Reason } from "../../../src/protocol/generated.ts";
import { readVectors } from "./vectors.ts";

const OUTCOMES: readonly Outcome[] = [
  "ok",
  "refusedByPolicy",
  "deniedByUser",
  "stepUpFailed",
  "executionError",
  "timedOut",
  "cancelled",
  "invalidArguments",
  "unknownTool",
];
const REASONS: readonly (Reason | undefined)[] = [
  undefined,
  "replayConflict",
  "turnClosed",
  "staleSnapshot",
  "snapshotExpired",
  "wrongConnection",
  "notAdvertised",
  "policyChanged",
  "schema",
  "quotaExceeded",
  "forbidden",
  "denied",
  "approvalExpired",
  "assertionInvalid",
  "noCredential",
  "sessionEnded",
  "toolTimeout",
  "toolError",
  "sourceUnavailable",
  "sandboxUnavailable",
  "ledgerUnavailable",
  "outcomeUnknown",
];

test("every outcome with every reason is a sentence that names the tool", () => {
  for (const outcome of OUTCOMES)
    for (const reason of REASONS) {
      const sentence = explainOutcome("delete_file", {
        outcome,
        ...(reason && { reason }),
        content: "",
        trust: "trusted",
        truncated: false,
      });
      expect(sentence).toMatch(/`delete_file`.*[.]$/);
      expect(sentence).not.toContain("undefined");
    }
});

test("a no, a timeout and a crash are three different sentences", () => {
  const say = (outcome: Outcome, reason: Reason) =>
    explainOutcome("x", { outcome, reason, content: "", trust: "trusted", truncated: false });
  const sentences = [
    say("deniedByUser", "denied"),
    say("timedOut", "approvalExpired"),
    say("executionError", "outcomeUnknown"),
  ];
  expect(new Set(sentences).size).toBe(3);
  expect(sentences[2]).toContain("not repeated");
});

interface Vectors {
  readonly outcomes: readonly { name: string; tool: string; result: Observation; sentence: string }[];
}

test.each(readVectors<Vectors>("copy").outcomes)("both languages say the same: $name", ({ tool, result, sentence }) => {
  expect(explainOutcome(tool, result)).toBe(sentence);
});

test("what is missing from a reply is said", () => {
  expect(explainCut("length")).toBe(copy.cutShort);
  expect(explainCut("filtered")).toBe(copy.restHeldBack);
  expect(explainCut("calls")).toBe(copy.callsLeftOut);
});
