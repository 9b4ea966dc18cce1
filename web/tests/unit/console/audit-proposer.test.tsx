// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { CallDetails } from "../../../src/protocol/generated.ts";
import { requirement } from "../../requirement.ts";
import { prepareDocument } from "../ui/document.ts";
import { call } from "./audited-call.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
  localStorage.clear();
});
afterEach(cleanup);

test.each<[string, Partial<CallDetails>, string]>([
  [
    "the model whose token the gateway gave",
    { call: call(7, { modelId: "model-1" }), turnModelId: "model-2" },
    "model-1",
  ],
  [
    "what a loop without that token called its model",
    {
      entries: [{ index: 1, hash: "aa", body: {}, payload: { model: { id: "model-3" } } }],
      turnModelId: "model-2",
    },
    "one that called itself this, which nothing confirms: model-3",
  ],
  [
    "the model that its turn began with",
    { turnModelId: "model-2" },
    "none of its own on record; the turn began with model-2",
  ],
  ["that a person may have typed it", {}, "none on record: a person may have typed it"],
])("tells as the command line does who proposed it: %s", async (_case, changes, told) => {
  requirement("002-72", "the console and the command line name the same model for a call");
  gateway.handlers["audit/call"] = () => ({ call: call(7), entries: [], rules: [], ...changes });
  openConsole(gateway, "/audit/calls/7");
  const name = await screen.findByText("Proposed by model");
  expect(name.parentElement?.textContent).toContain(told);
});

test("a call that ran is never said to have been refused, and a conversation without a title is called by its id", async () => {
  gateway.handlers["audit/call"] = () => ({
    call: call(7, { startedAt: "2026-11-21T09:00:04.988Z" }),
    entries: [],
    rules: [],
    title: "",
  });
  openConsole(gateway, "/audit/calls/7");
  expect(await screen.findByText("What its turn had on offer is not on record.")).toBeDefined();
  expect(screen.queryByText(/refused before it was compared/)).toBeNull();
  expect(screen.getByRole("link", { name: "cnv_1" })).toBeDefined();
});
