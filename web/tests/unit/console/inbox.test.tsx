// @vitest-environment jsdom
import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { RpcError } from "../../../src/protocol/rpc.ts";
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

const later = () => ask({ id: "apr_late", summary: "Later", expiresAt: "2026-11-21T10:30:00.000Z" });
const sooner = () => ask({ id: "apr_soon", summary: "Sooner", expiresAt: "2026-11-21T10:02:00.000Z" });
const decided = () => ask({ id: "apr_old", summary: "Long ago", status: "denied" });

const spoken = () => screen.getAllByRole("status").map((region) => region.textContent);
const waiting = () => screen.findByRole("region", { name: /Waiting for you/ });

describe("the inbox", () => {
  test("lists what waits first, the one that expires first on top, and keeps what was decided", async () => {
    gateway.questions = [later(), decided(), sooner()];
    openConsole(gateway, "/approvals");
    const items = within(await waiting()).getAllByRole("listitem");
    expect(items.map((item) => item.textContent?.startsWith("Sooner"))).toEqual([true, false]);
    expect(items[0]?.textContent).toContain("Expires in 1:00");
    const old = screen.getByRole("region", { name: "Decided" });
    expect(old.textContent).toContain("Long ago");
    expect(old.textContent).toContain("denied, not run");
  });

  test("shows a new question by itself, announces it and counts it in the title", async () => {
    openConsole(gateway, "/approvals");
    expect(await screen.findByText("Nothing waits for you")).toBeDefined();
    act(() => gateway.client.notify("approvals/requested", { approval: sooner().approval }));
    expect(await screen.findByText("Sooner")).toBeDefined();
    expect(spoken()).toContain("A call of write_file waits for your decision.");
    await waitFor(() => expect(document.title).toBe("(1) Approvals · Countersign console"));
  });

  test("moves an approval down when another window decides it", async () => {
    gateway.questions = [sooner()];
    openConsole(gateway, "/approvals");
    await screen.findByText("Sooner");
    act(() =>
      gateway.client.notify("approvals/resolved", { approvalId: "apr_soon", callId: "call_1", status: "expired" }),
    );
    expect(await screen.findByText("expired, not run")).toBeDefined();
    expect(screen.getByText("Nothing waits for you")).toBeDefined();
    await waitFor(() => expect(document.title).toBe("Approvals · Countersign console"));
  });

  test("moves down only the one that was decided", async () => {
    gateway.questions = [later(), sooner()];
    openConsole(gateway, "/approvals");
    await screen.findByText("Sooner");
    act(() =>
      gateway.client.notify("approvals/resolved", { approvalId: "apr_soon", callId: "call_1", status: "expired" }),
    );
    expect(await screen.findByText("expired, not run")).toBeDefined();
    expect(screen.getByRole("link", { name: "Sooner" })).toBeDefined();
    expect(screen.queryByRole("link", { name: "Later" })).toBeNull();
    expect(screen.getAllByRole("link", { name: /^Review/ })).toHaveLength(1);
  });

  test("shows a session that may ask nothing more once a no was one too many, and lets it ask again", async () => {
    gateway.questions = [sooner()];
    openConsole(gateway, "/approvals");
    await screen.findByText("Sooner");
    expect(screen.queryByText(/asks you nothing more/)).toBeNull();
    gateway.stopped = [{ sessionId: "ses_1", denials: 6 }];
    act(() =>
      gateway.client.notify("approvals/resolved", { approvalId: "apr_soon", callId: "call_1", status: "denied" }),
    );
    expect(
      (await screen.findByText("A session of the shell asks you nothing more")).closest("div")?.textContent,
    ).toContain("You said no 6 times in a row to session ses_1.");
    gateway.handlers["sessions/allow-questions"] = () => {
      gateway.stopped = [];
      return {};
    };
    await userEvent.click(screen.getByRole("button", { name: "Let it ask again" }));
    await waitFor(() => expect(screen.queryByText(/asks you nothing more/)).toBeNull());
    expect(gateway.asked("sessions/allow-questions")).toEqual([{ sessionId: "ses_1" }]);
    expect(spoken()).toContain("The agent may ask you again.");
  });

  test("shows a stopped turn on the page of the denied call too, and says so when it has ended meanwhile", async () => {
    gateway.questions = [decided()];
    gateway.stopped = [{ sessionId: "ses_1", denials: 3, conversationId: "cnv_1", turnId: "trn_1" }];
    openConsole(gateway, "/approvals/apr_old");
    expect((await screen.findByText("A turn asks you nothing more")).closest("div")?.textContent).toContain(
      "You said no 3 times in the open turn of conversation cnv_1.",
    );
    gateway.handlers["turns/allow-questions"] = () => {
      throw new RpcError(-32003, "that turn is not open");
    };
    await userEvent.click(screen.getByRole("button", { name: "Let it ask again" }));
    expect((await screen.findByRole("alert")).textContent).not.toBe("");
    expect(gateway.asked("turns/allow-questions")).toEqual([{ turnId: "trn_1" }]);
  });

  test("can deny all of them at once, and approve none", async () => {
    gateway.questions = [later(), sooner()];
    openConsole(gateway, "/approvals");
    await userEvent.click(await screen.findByRole("button", { name: "Deny all 2" }));
    const dialog = await screen.findByRole("dialog", { name: "Deny 2 calls?" });
    // What arrives while the person thinks about it was not in the question.
    act(() => gateway.client.notify("approvals/requested", { approval: ask({ id: "apr_new" }).approval }));
    await userEvent.click(within(dialog).getByRole("button", { name: "Deny all" }));
    await waitFor(() => expect(spoken()).toContain("2 calls were denied."));
    expect(gateway.asked("approvals/decide")).toEqual([
      { approvalId: "apr_soon", challenge: "once-apr_soon", decision: "deny" },
      { approvalId: "apr_late", challenge: "once-apr_late", decision: "deny" },
    ]);
    expect(screen.queryByRole("button", { name: /approve all/i })).toBeNull();
  });

  test("denies the rest when one of them was decided meanwhile", async () => {
    gateway.questions = [later(), sooner()];
    openConsole(gateway, "/approvals");
    await userEvent.click(await screen.findByRole("button", { name: "Deny all 2" }));
    gateway.questions = [later(), ask({ id: "apr_soon", status: "expired" })];
    await userEvent.click(await screen.findByRole("button", { name: "Deny all" }));
    await waitFor(() => expect(spoken()).toContain("One call was denied."));
  });

  test("shows hostile summaries as visible text", async () => {
    gateway.questions = [ask({ summary: "Delete \u202egpj.exe <img src=x>" })];
    openConsole(gateway, "/approvals");
    expect(await screen.findByText("U+202E")).toBeDefined();
    expect(document.querySelector("main img")).toBeNull();
  });
});

describe("the connection to the gateway", () => {
  test("says when it is lost, and asks everything again when it is back", async () => {
    gateway.questions = [];
    openConsole(gateway, "/approvals");
    await screen.findByText("Nothing waits for you");
    act(() => gateway.client.become({ phase: "lost", attempt: 1, retryInMs: 100, cause: "unreachable" }));
    expect(screen.getByRole("alert").textContent).toContain("The connection to the gateway is lost");
    await userEvent.click(screen.getByRole("button", { name: "Try now" }));
    expect(gateway.client.retryNow).toHaveBeenCalled();
    gateway.questions = [sooner()];
    act(() => gateway.client.become({ phase: "open" }));
    expect(await screen.findByText("Sooner")).toBeDefined();
    expect(screen.queryByText(/connection to the gateway is lost/)).toBeNull();
  });

  test("leads to the sign-in page and back when the session ends", async () => {
    openConsole(gateway, "/approvals?x=1");
    await screen.findByText("Nothing waits for you");
    act(() => gateway.client.become({ phase: "ended", reason: "signedOut" }));
    expect(await screen.findByText("Your console session has ended")).toBeDefined();
    expect(window.location.pathname + window.location.search).toBe("/signin?next=%2Fapprovals%3Fx%3D1");
  });
});
