import type { AuditedCall } from "../../../src/protocol/generated.ts";

/** A call of Ada's that Grace approved, at its place in the log. */
export const call = (position: number, changes: Partial<AuditedCall> = {}): AuditedCall => ({
  position,
  conversationId: "cnv_1",
  callId: `call_${position}`,
  turnId: "trn_1",
  turnIndex: 0,
  at: `2026-11-21T09:00:${String(position).padStart(2, "0")}.000Z`,
  principalId: "usr_ada",
  principalName: "Ada",
  tool: "write_file",
  outcome: "ok",
  decision: "consented",
  rules: ["workspace.write"],
  answer: "approved",
  approverName: "Grace",
  ...changes,
});
