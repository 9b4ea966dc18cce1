// @vitest-environment jsdom
import { readFileSync } from "node:fs";
import { cleanup, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { requirement } from "../../requirement.ts";
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

test("names in its row the model that proposed each call, and says where there was none", async () => {
  requirement("002-72", "a row of the dashboard names the model that proposed its call");
  const gateway = new FakeGateway();
  const calls = [
    call(3, { modelId: "remote:models.example.com:8443:large-1" }),
    call(2, { modelId: "small-1" }),
    call(1),
  ];
  gateway.handlers["audit/calls"] = () => ({ calls, unread: 0 });
  openConsole(gateway, "/audit");
  const rows = await screen.findAllByRole("link", { name: /write_file/ });
  expect(rows.map((row) => row.textContent?.match(/large-1|small-1|no model/)?.[0])).toEqual([
    "large-1",
    "small-1",
    "no model",
  ]);
});

test("hides the model of a call from no width of screen", () => {
  const sheet = readFileSync("src/features/console/audit/CallRows.module.css", "utf8");
  expect(sheet).not.toMatch(/display:\s*none/);
  expect(sheet).not.toMatch(/minmax\(0, 1\.2fr\)/);
});
