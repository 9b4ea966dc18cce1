// @vitest-environment jsdom
import { act, cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { prepareDocument } from "../ui/document.ts";
import { ask, FakeGateway } from "./fake-gateway.ts";
import { lookAtIt, openConsole, pass } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let heard: string[];
let listener: MutationObserver;

beforeEach(async () => {
  gateway = new FakeGateway();
  gateway.questions = [ask()];
  openConsole(gateway, "/approvals/apr_1");
  await screen.findByRole("region", { name: "Your decision" });
  heard = [];
  listener = new MutationObserver((changes) => {
    for (const { target } of changes) {
      const region = (target instanceof Element ? target : target.parentElement)?.closest(
        ".visually-hidden[role=status]",
      );
      if (region?.textContent) heard.push(region.textContent);
    }
  });
  listener.observe(document, { subtree: true, childList: true, characterData: true });
});

afterEach(() => {
  listener.disconnect();
  cleanup();
  vi.useRealTimers();
});

const resolve = () =>
  act(() => gateway.client.notify("approvals/resolved", { approvalId: "apr_1", callId: "call_1", status: "approved" }));

test("an answer that is given here is told once", async () => {
  await lookAtIt();
  await userEvent.click(screen.getByRole("button", { name: "Approve once" }));
  await screen.findByText("Approved");
  resolve();
  await pass(0);
  expect(heard).toEqual(["Approved."]);
});

test("an answer that is given elsewhere is told", async () => {
  resolve();
  await pass(0);
  expect(heard).toEqual(["An approval was decided: approved."]);
});

test("that the time is running out is told once, half a minute before", async () => {
  // The clock of these tests runs on by itself too.
  await pass(3 * 60_000);
  expect(heard).toEqual([]);
  await pass(32_000);
  await pass(3_000);
  expect(heard).toEqual(["This expires in 30 seconds."]);
});
