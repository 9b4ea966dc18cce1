// @vitest-environment jsdom
import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeAll, expect, test } from "vitest";
import { prepareDocument } from "../ui/document.ts";
import { ask, FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);
afterEach(cleanup);

const COUNT = {
  since: "2026-11-25T00:00:00.000Z",
  until: "2026-11-25T12:00:00.000Z",
  stepMs: 3_600_000,
  total: 9,
  outcomes: [
    { outcome: "ok", calls: 4 },
    { outcome: "deniedByUser", calls: 2 },
    { outcome: "cancelled", calls: 1 },
    { outcome: "executionError", calls: 2 },
  ],
  buckets: [],
  unread: 0,
};

const figures = async () => {
  const today = await screen.findByRole("region", { name: "Today" });
  await within(today).findByText("9");
  return [...today.querySelectorAll("dl > div")].map((each) => each.textContent);
};

test("the home page says what was done since midnight, who is at work and what was decided last", async () => {
  const gateway = new FakeGateway();
  gateway.questions = [ask({ id: "apr_1", status: "denied", summary: "Delete everything" })];
  gateway.handlers = { "audit/count": () => COUNT };
  openConsole(gateway, "/");
  expect(await figures()).toEqual([
    "calls9",
    "of them did not run3",
    "of them failed2",
    "sessions of agents are open0",
  ]);
  const [asked] = gateway.asked("audit/count");
  expect(new Date(asked?.filter?.since ?? "").getHours()).toBe(0);
  expect(screen.getByRole("link", { name: "Delete everything" }).getAttribute("href")).toBe("/approvals/apr_1");
});

test("a guest is told of their own calls, and nothing of other people's sessions", async () => {
  const gateway = new FakeGateway();
  gateway.profile = "guest";
  gateway.handlers = { "audit/count": () => COUNT };
  openConsole(gateway, "/");
  expect(await figures()).toEqual(["calls of yours9", "of them did not run3", "of them failed2"]);
  expect(gateway.asked("sessions/list")).toEqual([]);
});

test("each of a handful of calls that wait is named and leads to its own page, and the rest is counted", async () => {
  const gateway = new FakeGateway();
  gateway.questions = [1, 2].map((each) => ask({ id: `apr_${each}`, summary: `Write note ${each}` }));
  openConsole(gateway, "/");
  await screen.findByRole("heading", { name: "2 calls wait" });
  const linksOf = () =>
    within(screen.getByRole("region", { name: "Approvals" }))
      .getAllByRole("link")
      .map((link) => [link.textContent, link.getAttribute("href")]);
  await waitFor(() =>
    expect(linksOf()).toEqual([
      ["Write note 1", "/approvals/apr_1"],
      ["Write note 2", "/approvals/apr_2"],
    ]),
  );
  cleanup();
  gateway.questions = [1, 2, 3, 4, 5, 6, 7].map((each) => ask({ id: `apr_${each}`, summary: `Write note ${each}` }));
  openConsole(gateway, "/");
  await screen.findByRole("heading", { name: "7 calls wait" });
  await waitFor(() =>
    expect(linksOf().slice(4)).toEqual([
      ["Write note 5", "/approvals/apr_5"],
      ["and 2 more", "/approvals"],
    ]),
  );
});

test("the steps of a plan are named together and lead to one page", async () => {
  const gateway = new FakeGateway();
  const step = (place: number) =>
    ask({
      id: `apr_${place}`,
      callId: `call_${place}`,
      summary: `Write note ${place}`,
      ...(place > 1 && { plan: { first: "call_1", step: place, after: `call_${place - 1}` } }),
    });
  gateway.questions = [step(1), step(2), step(3)];
  openConsole(gateway, "/");
  await screen.findByRole("heading", { name: "3 calls wait" });
  const card = within(screen.getByRole("region", { name: "Approvals" }));
  await card.findByText("Write note 3");
  expect(card.getAllByRole("paragraph").map(({ textContent }) => textContent)).toEqual([
    "Write note 1",
    "then Write note 2",
    "then Write note 3",
    "Review it",
  ]);
  expect(card.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual(["/approvals/apr_1"]);
  cleanup();
  gateway.questions = [step(1), step(2), ask({ id: "apr_9", callId: "call_9", summary: "Delete note 9" })];
  openConsole(gateway, "/");
  await waitFor(() =>
    expect(
      within(screen.getByRole("region", { name: "Approvals" }))
        .getAllByRole("link")
        .map(({ textContent }) => textContent),
    ).toEqual(["Write note 1 and 1 more", "Delete note 9"]),
  );
});

test("a call that begins to wait is counted at once, and what became of it too", async () => {
  const gateway = new FakeGateway();
  let total = 8;
  gateway.handlers = { "audit/count": () => ({ ...COUNT, total }) };
  openConsole(gateway, "/");
  const today = await screen.findByRole("region", { name: "Today" });
  await within(today).findByText("8");
  total = 9;
  act(() => gateway.client.notify("approvals/requested", { approval: ask({ id: "apr_1" }).approval }));
  await within(today).findByText("9");
  total = 10;
  act(() => gateway.client.notify("approvals/resolved", { approvalId: "apr_1", callId: "call_1", status: "denied" }));
  await within(today).findByText("10");
});
