// @vitest-environment jsdom
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { ComparedCall, ComparedPair, ConversationComparison } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { requirement } from "../../requirement.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const BOTH = "/audit/compare?first=cnv_a&second=cnv_b";

const call = (position: number, changes: Partial<ComparedCall> = {}): ComparedCall => ({
  position,
  callId: `call_${position}`,
  tool: "write_file",
  arguments: '{"path": "a.txt"}',
  erased: false,
  outcome: "ok",
  decision: "consented",
  rules: ["workspace.write"],
  ...changes,
});

function answer(pairs: readonly ComparedPair[], changes: Partial<ConversationComparison> = {}): void {
  const count = (side: "first" | "second") => pairs.filter((pair) => pair[side] !== undefined).length;
  gateway.handlers["audit/compare"] = () => ({
    first: { conversationId: "cnv_a", title: "The list", principalName: "Ada", calls: count("first"), cut: false },
    second: { conversationId: "cnv_b", title: "A branch", parentId: "cnv_a", calls: count("second"), cut: false },
    pairs: [...pairs],
    unread: 0,
    ...changes,
  });
}

test("shows the calls of both with what differs, and leads to each of them", async () => {
  requirement("002-22", "two conversations stand side by side on the console");
  answer([
    { finding: "same", differs: [], first: call(1), second: call(11) },
    {
      finding: "different",
      differs: ["arguments", "outcome"],
      first: call(2),
      second: call(12, { arguments: '{"path": "a\u202etxt"}', outcome: "deniedByUser", decision: "denied" }),
    },
    { finding: "secondOnly", differs: [], second: call(13, { tool: "delete_file" }) },
  ]);
  openConsole(gateway, BOTH);
  const rows = await screen.findAllByRole("listitem").then((all) => all.filter((row) => row.dataset.finding));
  expect(gateway.asked("audit/compare")).toEqual([{ first: "cnv_a", second: "cnv_b" }]);
  expect(rows.map((row) => row.dataset.finding)).toEqual(["same", "different", "secondOnly"]);
  const [, changed, only] = rows as [HTMLElement, HTMLElement, HTMLElement];
  expect(within(changed).getByText("differs: arguments, outcome")).toBeTruthy();
  expect(changed.textContent).not.toContain("\u202e");
  expect(changed.textContent).toContain("U+202E");
  expect(
    within(changed)
      .getAllByRole("link")
      .map((link) => link.getAttribute("href")),
  ).toEqual(["/audit/calls/2", "/audit/calls/12"]);
  expect(within(only).getByText("First: no such call")).toBeTruthy();
  expect(screen.getByText("A fork of the other one.")).toBeTruthy();
  expect(screen.getByText(/1 the same, 1 different, 0 that cannot be told, 1 in one of them only/)).toBeTruthy();
  expect(screen.queryByText("They have no call in common.")).toBeNull();
});

test("says that erased arguments cannot be compared", async () => {
  const erased = (position: number): ComparedCall => {
    const { arguments: _, ...left } = call(position, { erased: true });
    return left;
  };
  answer([{ finding: "cannotBeTold", differs: [], first: erased(1), second: erased(11) }]);
  openConsole(gateway, BOTH);
  expect(await screen.findByText("Cannot be told")).toBeTruthy();
  expect(screen.getAllByText("Its arguments are erased.")).toHaveLength(2);
});

test("leads from a fork to what it was forked from, and says where calls are left out and still read", async () => {
  answer([], {
    second: { conversationId: "cnv_b", parentId: "cnv_parent", calls: 250, cut: true },
    unread: 7,
  });
  openConsole(gateway, BOTH);
  const link = await screen.findByRole("link", { name: "Compare with what it was forked from" });
  expect(link.getAttribute("href")).toBe("/audit/compare?first=cnv_parent&second=cnv_b");
  expect(screen.getByText(/Only the newest of its calls are compared/)).toBeTruthy();
  expect(screen.getByText("7 records are still being read")).toBeTruthy();
  expect(screen.getByText("Neither has called a tool")).toBeTruthy();
});

test("says when two conversations have no call in common", async () => {
  answer([{ finding: "different", differs: ["tool"], first: call(1), second: call(11, { tool: "peek" }) }]);
  openConsole(gateway, BOTH);
  expect(await screen.findByText("They have no call in common.")).toBeTruthy();
});

test("asks nothing for one conversation alone or the same one twice", async () => {
  openConsole(gateway, "/audit/compare?first=cnv_a");
  expect(await screen.findByText("Choose two conversations")).toBeTruthy();
  cleanup();
  openConsole(gateway, "/audit/compare?first=cnv_a&second=cnv_a");
  expect(await screen.findByText("That is the same conversation twice")).toBeTruthy();
  expect(gateway.asked("audit/compare")).toEqual([]);
});

test("says what may be wrong when the gateway knows no such conversation", async () => {
  gateway.handlers["audit/compare"] = () => {
    throw new RpcError(-32003, "there is no such conversation", "notFound");
  };
  openConsole(gateway, BOTH);
  expect(await screen.findByText(/may not be on record/)).toBeTruthy();
});

test("puts what is chosen or pasted into the address", async () => {
  answer([]);
  gateway.handlers["audit/conversations"] = () => ({
    conversations: [
      { conversationId: "cnv_a", title: "Tidy\u202e up", principalName: "Ada", at: "2026-11-21T09:00:00.000Z" },
      { conversationId: "cnv_c", title: "", principalName: "Ada", at: "2026-11-21T09:00:00.000Z" },
    ],
  });
  openConsole(gateway, "/audit/compare");
  const option = await screen.findAllByRole("option", { name: /Tidy up · Ada, .* · cnv_a/ });
  expect(option).toHaveLength(2);
  expect(screen.getAllByRole("option", { name: /^Ada, .* · cnv_c$/ })).toHaveLength(2);
  await userEvent.selectOptions(screen.getByLabelText("First conversation"), "cnv_a");
  await userEvent.type(screen.getByLabelText("Id of the second"), " cnv_b{Enter}");
  await waitFor(() => expect(window.location.search).toBe("?first=cnv_a&second=cnv_b"));
  expect(await screen.findByText("Neither has called a tool")).toBeTruthy();
});
