// @vitest-environment jsdom
import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { AuditEntry, Grant } from "../../../src/protocol/generated.ts";
import { prepareDocument } from "../ui/document.ts";
import { ask, FakeGateway } from "./fake-gateway.ts";
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

describe("grants", () => {
  const grant: Grant = {
    id: "grt_1",
    approvalId: "apr_1",
    scope: "session",
    tool: "write_file",
    conversationId: "cnv_1",
    pins: { path: "a\u202e.txt" },
    freed: ["content"],
    issuedAt: "2026-11-21T10:00:00.000Z",
    expiresAt: "2026-11-21T10:31:00.000Z",
    uses: 3,
    maxUses: 50,
  };

  test("say what is left of them, what they pin and what they leave open", async () => {
    gateway.handlers["grants/list"] = () => ({ grants: [grant] });
    openConsole(gateway, "/grants");
    const card = (await screen.findByRole("heading", { name: "write_file" })).closest("li");
    expect(card?.textContent).toContain("Ends in 30:00");
    expect(card?.textContent).toContain("used 3 of 50 times");
    expect(card?.textContent).toContain("U+202E");
    expect(card?.textContent).toContain("contentany value");
  });

  test("say within what they let an argument vary", async () => {
    const within = { argument: "content", kind: "folder", bound: "notes" } as const;
    gateway.handlers["grants/list"] = () => ({ grants: [{ ...grant, within }] });
    openConsole(gateway, "/grants");
    const card = (await screen.findByRole("heading", { name: "write_file" })).closest("li");
    expect(card?.textContent).toContain("contentanywhere in the folder notes/");
  });

  test("are revoked and gone", async () => {
    let grants = [grant];
    gateway.handlers["grants/list"] = () => ({ grants });
    gateway.handlers["grants/revoke"] = () => {
      grants = [];
      return {};
    };
    openConsole(gateway, "/grants");
    await userEvent.click(await screen.findByRole("button", { name: "Revoke" }));
    expect(await screen.findByText("No grant is in force")).toBeDefined();
    expect(gateway.asked("grants/revoke")).toEqual([{ grantId: "grt_1" }]);
  });

  test("come and go on the page as the gateway tells of them", async () => {
    let grants: Grant[] = [];
    gateway.handlers["grants/list"] = () => ({ grants });
    openConsole(gateway, "/grants");
    expect(await screen.findByText("No grant is in force")).toBeDefined();
    grants = [grant];
    act(() => gateway.client.notify("grants/changed", {}));
    expect(await screen.findByRole("heading", { name: "write_file" })).toBeDefined();
  });
});

describe("the audit log", () => {
  const entry = (index: number, body: Record<string, unknown> = {}): AuditEntry => ({
    index,
    hash: "ab".repeat(32),
    body: { event: "call:closed", at: Date.UTC(2026, 10, 21, 9), tool: "write_file", outcome: "ok", ...body },
    payload: { arguments: { path: "<script>" } },
  });

  test("is filtered by the gateway, and the filter stands in the address", async () => {
    gateway.handlers["audit/list"] = ({ filter }) => ({
      entries: filter?.tool === "write_file" ? [entry(7)] : [],
      size: 9,
    });
    openConsole(gateway, "/audit/records");
    expect(await screen.findByText("No entry matches")).toBeDefined();
    await userEvent.type(screen.getByLabelText("Tool"), "write_file{Enter}");
    expect(await screen.findByText("Call closed", { selector: "td *" })).toBeDefined();
    expect(window.location.search).toBe("?tool=write_file");
    expect(screen.getByText("1 shown, 9 in the whole log")).toBeDefined();
  });

  test("goes on where the last page ended", async () => {
    gateway.handlers["audit/list"] = ({ cursor }) =>
      cursor === undefined ? { entries: [entry(2)], size: 2, nextCursor: "2" } : { entries: [entry(1)], size: 2 };
    openConsole(gateway, "/audit/records");
    await userEvent.click(await screen.findByRole("button", { name: "Show older entries" }));
    expect(await screen.findByRole("button", { name: "Entry #1" })).toBeDefined();
    expect(screen.queryByRole("button", { name: "Show older entries" })).toBeNull();
    expect(gateway.asked("audit/list").map(({ cursor }) => cursor)).toEqual([undefined, "2"]);
  });

  test("opens a row with its entry, payload and hash, all as plain text", async () => {
    gateway.handlers["audit/list"] = () => ({ entries: [entry(7, { tool: "wri\u200bte" })], size: 9 });
    openConsole(gateway, "/audit/records");
    await userEvent.click(await screen.findByRole("button", { name: "Entry #7" }));
    const details = document.getElementById(
      screen.getByRole("button", { name: "Entry #7" }).getAttribute("aria-controls") ?? "",
    );
    expect(details?.textContent).toContain("<script>");
    expect(details?.textContent).toContain("ab".repeat(32));
    expect(details?.querySelector("script")).toBeNull();
    expect(screen.getAllByText("U+200B").length).toBeGreaterThan(0);
  });

  test("is checked whole by operators", async () => {
    gateway.handlers["audit/verify"] = () => ({
      verified: false,
      detail: "Leaf 3 does not hash to what the tree holds.",
      size: 9,
      root: "cd".repeat(32),
      checkpoint: "",
    });
    openConsole(gateway, "/audit/records");
    await userEvent.click(await screen.findByRole("button", { name: "Verify the whole log" }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toContain("The log does not match its checkpoint");
    expect(alert.textContent).toContain("Leaf 3");
  });

  test("offers guests no check of what they cannot see", async () => {
    gateway.profile = "guest";
    openConsole(gateway, "/audit/records");
    expect(await screen.findByText("No entry matches")).toBeDefined();
    expect(screen.queryByRole("button", { name: "Verify the whole log" })).toBeNull();
  });
});

describe("the home page", () => {
  test("says what waits, and what keeps the gateway from working", async () => {
    gateway.questions = [ask()];
    gateway.environment.readProblems.mockResolvedValue(["the model is being downloaded: 40 %"]);
    openConsole(gateway, "/");
    const approvals = await screen.findByRole("region", { name: "Approvals" });
    await waitFor(() => expect(approvals.textContent).toContain("1 call waits"));
    expect(within(approvals).getByRole("link", { name: "Review it" }).getAttribute("href")).toBe("/approvals/apr_1");
    expect(await screen.findByText("the model is being downloaded: 40 %")).toBeDefined();
  });

  test("does not ask for the policy on behalf of a guest", async () => {
    gateway.profile = "guest";
    openConsole(gateway, "/");
    expect(await screen.findByText("ready")).toBeDefined();
    expect(gateway.asked("policy/describe")).toEqual([]);
    expect(within(screen.getByRole("main")).queryByText("Policy")).toBeNull();
  });

  test("reads an address that does not exist as home", async () => {
    openConsole(gateway, "/nowhere/at/all");
    expect(await screen.findByText("Hello, Nora")).toBeDefined();
    expect(window.location.pathname).toBe("/");
  });
});
