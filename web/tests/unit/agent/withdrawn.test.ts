import { expect, test } from "vitest";
import { advance, emptyConversation } from "../../../src/agent/conversation.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { CANCELLED, UNHEARD } from "../../../src/agent/messages.ts";
import type { ApprovalStatus } from "../../../src/protocol/generated.ts";
import { approvalFor } from "../shell/approvals.ts";
import { ok, proposed, tools } from "./scripted.ts";

test("a call that is withdrawn while nobody has decided did not run, and one that was approved then may have", () => {
  const asked: AgentEvent[] = [
    { type: "turn:begun", turnId: "trn_1", text: "do it", tools },
    { type: "call:proposed", call: proposed("call_1", "delete_file") },
    { type: "call:sent", callId: "call_1" },
    { type: "approval:requested", approval: approvalFor("call_1") },
  ];
  const waiting = asked.reduce(advance, emptyConversation);
  const unheard: AgentEvent = { type: "call:closed", callId: "call_1", result: UNHEARD };
  const end = (status: ApprovalStatus) => ({ type: "approval:resolved", callId: "call_1", status }) as const;
  const resultAfter = (...events: AgentEvent[]) => events.reduce(advance, waiting).calls.call_1?.result;
  expect(resultAfter(unheard)).toBe(CANCELLED);
  expect(resultAfter({ type: "turn:ended", ending: "stopped", label: "words" })).toBe(CANCELLED);
  expect(resultAfter(unheard, end("cancelled"))).toBe(CANCELLED);
  expect(resultAfter(end("denied"), unheard)).toBe(CANCELLED);
  expect(resultAfter(end("approved"), unheard)).toBe(UNHEARD);
  expect(resultAfter(unheard, end("approved"))).toBe(UNHEARD);
  expect(resultAfter({ ...unheard, result: ok("done") }, end("approved"))).toMatchObject({ content: "done" });
});
