// @vitest-environment jsdom
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { callFilterOf, readCallsView } from "../../../src/features/console/audit/calls-view.ts";
import { readComparisonView } from "../../../src/features/console/audit/comparison.ts";
import { filterOf, readView } from "../../../src/features/console/audit/filters.ts";
import { prepareDocument } from "../ui/document.ts";
import { call } from "./audited-call.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test("a time in the address that no clock shows is as if it were not there", () => {
  for (const from of ["2026-99-99T99:99:99.000Z", "2026-02-30T00:00:00.000Z", "0000-01-01T00:00:00.000Z"]) {
    expect(readCallsView(`?from=${from}&to=2027-01-01T00:00:00.000Z`)).toMatchObject({ from: "", to: "" });
  }
  const leap = readCallsView("?from=2028-02-29T00:00:00.000Z&to=2028-02-29T01:00:00.000Z");
  expect(leap.from).toBe("2028-02-29T00:00:00.000Z");
});

test("a text of the address is never cut through a character, which no message could carry", () => {
  const ends = (before: number) => encodeURIComponent(`${"x".repeat(before)}😀`);
  const view = readCallsView(`?text=${ends(199)}&person=${ends(63)}&conversation=${ends(63)}`);
  expect(callFilterOf(view, 0)).toMatchObject({
    text: "x".repeat(199),
    principalId: "x".repeat(63),
    conversationId: "x".repeat(63),
  });
  expect(readCallsView(`?text=${ends(198)}`).text).toBe(`${"x".repeat(198)}😀`);
  expect(filterOf(readView(`?tool=${ends(127)}&conversation=${ends(63)}`))).toEqual({
    tool: "x".repeat(127),
    conversationId: "x".repeat(63),
  });
  expect(readComparisonView(`?first=${ends(63)}`).first).toBe("x".repeat(63));
});

test("what narrows the calls stands there in words, not in the codes of the address", async () => {
  const gateway = new FakeGateway();
  gateway.handlers["audit/calls"] = () => ({ calls: [call(1)], unread: 0 });
  openConsole(gateway, "/audit?decision=auto&label=high&outcome=ok");
  const chosen = await screen.findByRole("list", { name: "Narrowed by" });
  for (const words of ["Outcome: Ran", "Decision: Ran by itself", "Label: High"]) {
    expect(chosen.textContent).toContain(words);
  }
});

test("what the address asks for and no view has is said to be left out", async () => {
  const gateway = new FakeGateway();
  gateway.handlers["audit/calls"] = () => ({ calls: [call(1)], unread: 0 });
  openConsole(gateway, "/audit?label=secret&principal=usr_ada&tool=peek&range=forever");
  const said = await screen.findByRole("note");
  expect(said.textContent).toContain("It was left out");
  const listed = within(said).getAllByRole("listitem");
  expect(listed.map(({ textContent }) => textContent)).toEqual(["label=secret", "principal=usr_ada", "range=forever"]);
  await userEvent.selectOptions(screen.getByLabelText("Outcome"), "ok");
  await waitFor(() => expect(window.location.search).toBe("?tool=peek&outcome=ok"));
  expect(screen.queryByText(/It was left out/)).toBeNull();
});

test("what no call ever had is said where no call is found", async () => {
  const gateway = new FakeGateway();
  const none = { sources: [], models: [], rules: [], policyVersions: [] };
  gateway.handlers["audit/choices"] = () => ({ ...none, people: [{ id: "usr_ada", name: "Ada" }], tools: ["peek"] });
  gateway.handlers["audit/calls"] = () => ({ calls: [], unread: 0 });
  openConsole(gateway, "/audit?person=usr_bob&tool=peek&rule=none&outcome=ok");
  const said = await screen.findAllByText(/^At no time was there a call with/);
  expect(said.map(({ textContent }) => textContent?.split(": ")[1])).toEqual(["Person usr_bob", "Rule none"]);
});

test("who comes into the log while the page follows it can be chosen", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const gateway = new FakeGateway();
  const none = { tools: [], sources: [], models: [], rules: [], policyVersions: [] };
  let people = [{ id: "usr_ada", name: "Ada" }];
  gateway.handlers["audit/choices"] = () => ({ ...none, people });
  gateway.handlers["audit/calls"] = () => ({ calls: [call(1)], unread: 0 });
  openConsole(gateway, "/audit");
  await screen.findByRole("option", { name: "Ada" });
  people = [...people, { id: "usr_bea", name: "Bea" }];
  await userEvent.setup({ advanceTimers: vi.advanceTimersByTime }).click(screen.getByLabelText("Live"));
  await vi.advanceTimersByTimeAsync(3_100);
  expect(await screen.findByRole("option", { name: "Bea" })).toBeDefined();
});

test("a filter that the gateway refuses ends the counting too", async () => {
  const gateway = new FakeGateway();
  gateway.handlers["audit/calls"] = () => Promise.reject(new Error("no such outcome"));
  gateway.handlers["audit/count"] = () => Promise.reject(new Error("no such outcome"));
  openConsole(gateway, "/audit?outcome=banana");
  await screen.findByRole("alert");
  await waitFor(() => expect(screen.queryByText("Counting…")).toBeNull());
});

test("while the calls of another filter are counted, the number of the one before is not shown as theirs", async () => {
  const gateway = new FakeGateway();
  const times = { since: "2026-11-20T10:00:00.000Z", until: "2026-11-21T11:00:00.000Z", stepMs: 3_600_000 };
  const counted = { ...times, total: 52, outcomes: [], buckets: [], unread: 0 };
  gateway.handlers["audit/calls"] = () => ({ calls: [call(1)], unread: 0 });
  gateway.handlers["audit/count"] = () => counted;
  openConsole(gateway, "/audit");
  await screen.findByText("52 calls");
  let tell = (_: typeof counted) => {};
  const pending = new Promise<typeof counted>((resolve) => {
    tell = resolve;
  });
  gateway.handlers["audit/count"] = () => pending;
  await userEvent.selectOptions(screen.getByLabelText("Outcome"), "ok");
  await screen.findByText("Counting…");
  expect(screen.queryByText(/52 calls$/)).toBeNull();
  expect(screen.getByRole("img", { name: /^52 calls over time/ })).toBeDefined();
  tell({ ...counted, total: 7 });
  expect(await screen.findByText("Export 7 calls")).toBeDefined();
  expect(screen.getByText("7 calls")).toBeDefined();
});

test("the length of time goes along from calls to sums and back, and nowhere else", async () => {
  openConsole(new FakeGateway(), "/audit?range=30d&tool=write_file");
  const tabs = await screen.findByRole("navigation", { name: "Audit" });
  const leads = () =>
    within(tabs)
      .getAllByRole("link")
      .map((link) => link.getAttribute("href"));
  expect(leads()).toEqual([
    "/audit?range=30d",
    "/audit/records",
    "/audit/compare",
    "/audit/load?range=30d",
    "/audit/models?range=30d",
  ]);
  await userEvent.click(within(tabs).getByRole("link", { name: "Load on people" }));
  expect(((await screen.findByLabelText("Time")) as HTMLSelectElement).value).toBe("30d");
});
