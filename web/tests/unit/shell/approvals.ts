import type { Approval } from "../../../src/protocol/generated.ts";

/** The question whether a call may delete a file, as the gateway asks it. */
export function approvalFor(callId: string): Approval {
  return {
    id: "apr_1",
    kind: "stepUp",
    status: "pending",
    tool: "delete_file",
    arguments: { path: "notes/old.txt" },
    summary: "Delete notes/old.txt",
    effects: ["The file is gone for good."],
    statementDigest: "0".repeat(64),
    conversationId: "cnv_new",
    turnId: "trn_1",
    callId,
    requestedAt: new Date().toISOString(),
    expiresAt: new Date(Date.now() + 120_000).toISOString(),
    needs: { presence: true, approvers: 1, requesterMayApprove: true },
    because: [],
    offers: ["once"],
  };
}
