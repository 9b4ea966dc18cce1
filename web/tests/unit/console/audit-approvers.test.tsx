// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { AuditedCall } from "../../../src/protocol/generated.ts";
import { requirement } from "../../requirement.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);
afterEach(cleanup);

const call: AuditedCall = {
  position: 7,
  conversationId: "cnv_1",
  callId: "call_7",
  turnId: "trn_1",
  at: "2026-11-21T09:00:00.000Z",
  principalId: "usr_1",
  principalName: "Ada",
  outcome: "ok",
  rules: [],
  askedAt: "2026-11-21T09:00:00.000Z",
  answer: "approved",
  approverId: "usr_8",
  approverName: "Grace",
};

test("names everybody who approved, and says that something is not kept any more", async () => {
  requirement("002-74", "a call that took several people is shown with all of them");
  const gateway = new FakeGateway();
  const given = { event: "approval:given", at: 0, principalId: "usr_9", payload: "ab".repeat(32) };
  gateway.handlers["audit/call"] = () => ({
    call,
    entries: [{ index: 6, hash: "cd".repeat(32), body: given }],
    rules: [],
  });
  const none = { tools: [], sources: [], models: [], rules: [], policyVersions: [] };
  gateway.handlers["audit/choices"] = () => ({ ...none, people: [{ id: "usr_9", name: "Hedy" }] });
  openConsole(gateway, "/audit/calls/7");
  expect(await screen.findByText("Hedy")).toBeDefined();
  expect(screen.getByText("Grace")).toBeDefined();
  expect(screen.getByText(/not kept any more/)).toBeDefined();
});
