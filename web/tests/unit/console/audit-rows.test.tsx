// @vitest-environment jsdom
import { cleanup, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { prepareDocument } from "../ui/document.ts";
import { call } from "./audited-call.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test("heads a conversation by its title, also an older one, and by its id only where it has none any more", async () => {
  const gateway = new FakeGateway();
  gateway.handlers["audit/conversations"] = () => ({
    conversations: [
      { conversationId: "cnv_1", title: "Spring cleaning", principalName: "Ada", at: "2026-11-21T09:00:00.000Z" },
      { conversationId: "cnv_3", principalName: "Ada", at: "2026-11-21T09:00:00.000Z" },
    ],
  });
  gateway.handlers["audit/call"] = () => ({ call: call(3), entries: [], rules: [], title: "Of last year" });
  const calls = [call(3, { conversationId: "cnv_2" }), call(2), call(1, { conversationId: "cnv_3" })];
  gateway.handlers["audit/calls"] = () => ({ calls, unread: 0 });
  openConsole(gateway, "/audit?group=conversation");
  for (const [id, name] of [
    ["cnv_1", "Spring cleaning"],
    ["cnv_2", "Of last year"],
    ["cnv_3", "cnv_3"],
  ] as const) {
    const section = await screen.findByRole("region", { name: `Conversation ${id}` });
    expect(await within(section).findByRole("link", { name })).toBeDefined();
  }
  expect(gateway.asked("audit/call")).toEqual([{ position: 3 }]);
});

test("says once that a call was denied, though nobody was asked about it again", async () => {
  const gateway = new FakeGateway();
  const { answer: _none, ...unasked } = call(1, { outcome: "deniedByUser", decision: "denied", reason: "denied" });
  gateway.handlers["audit/calls"] = () => ({ calls: [unasked], unread: 0 });
  openConsole(gateway, "/audit");
  const row = await screen.findByRole("link", { name: /Denied by a person/ });
  expect(row.textContent).not.toContain("said no");
});
