// @vitest-environment jsdom
import { act, cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Approval, ApprovalQuestion } from "../../../src/protocol/generated.ts";
import { prepareDocument } from "../ui/document.ts";
import { ask, FakeGateway } from "./fake-gateway.ts";
import { lookAtIt, openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

async function open(question: ApprovalQuestion): Promise<void> {
  gateway.questions = [question];
  openConsole(gateway, `/approvals/${question.approval.id}`);
  await screen.findByRole("region", { name: "Your decision" });
}

function button(name: string | RegExp): HTMLElement {
  return screen.getByRole("button", { name });
}

function resolve(status: Approval["status"]): void {
  act(() => gateway.client.notify("approvals/resolved", { approvalId: "apr_1", callId: "call_1", status }));
}

describe("what stands around the question", () => {
  const background = {
    title: "Shopping",
    request: "put milk on my\u202elist",
    call: { position: 7, outcome: "open" },
  } as const;

  test("is the person's message as a quotation that cannot pass for another text, and the conversation", async () => {
    await open({ ...ask(), background });
    const quote = screen.getByRole("figure");
    expect(quote.textContent).toContain("Nobody checked that a person typed it");
    expect(within(quote).getByText("U+202E")).toBeDefined();
    expect(screen.getByRole("link", { name: "Shopping" })).toBeDefined();
  });

  test("is who decided with which passkey, and the result, once somebody has", async () => {
    const call = {
      position: 7,
      outcome: "ok",
      approverName: "Ada",
      decidedAt: "2026-11-25T10:00:00Z",
      passkeyName: "Blue key",
      durationMs: 12,
    };
    await open({ ...ask({ status: "approved" }), background: { ...background, call } });
    const decision = screen.getByRole("region", { name: "Your decision" });
    for (const words of ["Ada", "Blue key", "12 ms"]) expect(decision.textContent).toContain(words);
    expect(within(decision).getByRole("link", { name: "Its record" }).getAttribute("href")).toBe("/audit/calls/7");
  });

  test("is read again when the question was decided while it was open", async () => {
    await open({ ...ask(), background });
    gateway.questions = [
      {
        ...ask({ status: "denied" }),
        background: { ...background, call: { ...background.call, approverName: "Eve" } },
      },
    ];
    resolve("denied");
    expect(await screen.findByText("Eve")).toBeDefined();
  });
});

describe("keys of one character", () => {
  test("go to an answer, and only Enter gives it", async () => {
    await open(ask());
    await lookAtIt();
    await userEvent.keyboard("a");
    expect(document.activeElement).toBe(button("Approve once"));
    expect(screen.getByText(/presses the button that is marked/)).toBeDefined();
    await userEvent.keyboard("aad");
    expect(document.activeElement).toBe(button("Deny"));
    expect(gateway.asked("approvals/decide")).toEqual([]);
    await userEvent.keyboard("{Enter}");
    expect(gateway.asked("approvals/decide")).toMatchObject([{ decision: "deny" }]);
  });

  test("do nothing with a modifier, in a dialog, or once they are turned off", async () => {
    await open(ask());
    await userEvent.keyboard("{Control>}a{/Control}");
    expect(document.activeElement?.tagName).toBe("H1");
    await userEvent.keyboard("?");
    await screen.findByRole("dialog", { name: "Keys" });
    await userEvent.keyboard("a");
    expect(document.activeElement).not.toBe(button("Approve once"));
    await userEvent.click(screen.getByRole("checkbox", { name: "Use these keys in this browser" }));
    await userEvent.click(button("Close"));
    await userEvent.keyboard("d");
    expect(document.activeElement).not.toBe(button("Deny"));
    localStorage.clear();
  });

  test("lead to the next question that waits, and back", async () => {
    gateway.questions = [ask(), ask({ id: "apr_2", summary: "Delete everything" })];
    openConsole(gateway, "/approvals/apr_1");
    await screen.findByRole("region", { name: "Your decision" });
    await userEvent.keyboard("j");
    expect(await screen.findByRole("heading", { name: "Delete everything" })).toBeDefined();
    await userEvent.keyboard("k");
    expect(await screen.findByRole("heading", { name: /Write 5 characters/ })).toBeDefined();
  });
});
