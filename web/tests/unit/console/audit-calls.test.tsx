// @vitest-environment jsdom
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { readViews } from "../../../src/features/console/audit/saved-views.ts";
import type { AuditedCall, CallCount, CallDetails } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { requirement } from "../../requirement.ts";
import { prepareDocument } from "../ui/document.ts";
import { call } from "./audited-call.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole, pass } from "./open-console.tsx";

beforeAll(prepareDocument);
let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
  localStorage.clear();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const count: CallCount = {
  since: "2026-11-20T10:00:00.000Z",
  until: "2026-11-21T11:00:00.000Z",
  stepMs: 3_600_000,
  total: 3,
  outcomes: [
    { outcome: "ok", calls: 2 },
    { outcome: "deniedByUser", calls: 1 },
  ],
  buckets: [
    { at: "2026-11-21T09:00:00.000Z", outcomes: [{ outcome: "ok", calls: 2 }] },
    { at: "2026-11-21T10:00:00.000Z", outcomes: [{ outcome: "deniedByUser", calls: 1 }] },
  ],
  unread: 0,
};

function answer(calls: readonly AuditedCall[], unread = 0): void {
  gateway.handlers["audit/calls"] = () => ({ calls: [...calls], unread });
  gateway.handlers["audit/count"] = () => ({ ...count, total: calls.length });
}

describe("the page of calls", () => {
  test("asks the gateway for what the address says, and puts what is chosen into the address", async () => {
    requirement("002-74", "calls are found on the console by person, tool, time and outcome");
    answer([call(1)]);
    gateway.handlers["audit/choices"] = () => ({
      people: [{ id: "usr_ada", name: "Ada" }],
      tools: ["write_file", "read_file"],
      sources: [],
      models: [],
      rules: [],
      policyVersions: [],
    });
    openConsole(gateway, "/audit?tool=write_file");
    await screen.findByRole("link", { name: /write_file/ });
    expect(gateway.asked("audit/calls")[0]?.filter).toMatchObject({ tool: "write_file" });
    await userEvent.selectOptions(screen.getByLabelText("Person"), "usr_ada");
    await waitFor(() => expect(window.location.search).toBe("?person=usr_ada&tool=write_file"));
    await userEvent.type(screen.getByLabelText("Name or id"), "cnv_{Enter}");
    await waitFor(() =>
      expect(gateway.asked("audit/count").at(-1)?.filter).toMatchObject({ text: "cnv_", tool: "write_file" }),
    );
    await userEvent.click(screen.getByRole("button", { name: /^Tool: .*, take this away$/ }));
    await waitFor(() => expect(window.location.search).toBe("?person=usr_ada&text=cnv_"));
    await userEvent.click(screen.getByRole("button", { name: "Take all away" }));
    await waitFor(() => expect(window.location.search).toBe(""));
  });

  test("shows a row as one link, under the day, with who decided", async () => {
    answer([call(2, { outcome: "deniedByUser", decision: "denied", answer: "denied", reason: "denied" }), call(1)]);
    openConsole(gateway, "/audit");
    const row = await screen.findByRole("link", { name: /Denied by a person/ });
    // Though many parts of the page want to know who is signed in.
    expect(gateway.asked("session/describe")).toHaveLength(1);
    expect(row.getAttribute("href")).toBe("/audit/calls/2");
    expect(row.textContent).toContain("Denied (Grace)");
    expect(row.textContent).not.toContain("Denied (Grace),");
    expect(screen.getAllByRole("heading", { level: 2 })[0]?.textContent).toContain("2026");
  });

  test("goes through the rows with the arrow keys", async () => {
    answer([call(3), call(2), call(1)]);
    openConsole(gateway, "/audit");
    const rows = await screen.findAllByRole("link", { name: /write_file/ });
    for (const [key, at] of [
      ["j", 0],
      ["{ArrowDown}", 1],
      ["{End}", 2],
      ["{ArrowDown}", 2],
      ["{ArrowUp}", 1],
      ["{Home}", 0],
      ["j", 1],
      ["j", 2],
      ["k", 1],
    ] as const) {
      await userEvent.keyboard(key);
      expect(document.activeElement).toBe(rows[at]);
    }
  });

  test("goes on with the rows from a list of choices, unless the letter is the beginning of a choice", async () => {
    answer([call(2), call(1)]);
    openConsole(gateway, "/audit");
    const rows = await screen.findAllByRole("link", { name: /write_file/ });
    const time = screen.getByRole("combobox", { name: "Time" });
    time.focus();
    await userEvent.keyboard("j");
    expect(document.activeElement).toBe(rows[0]);
    const choice = document.createElement("option");
    choice.label = "Jan";
    time.append(choice);
    time.focus();
    await userEvent.keyboard("j");
    expect(document.activeElement).toBe(time);
  });

  test("groups by conversation and turn", async () => {
    answer([call(3, { conversationId: "cnv_2", turnId: "trn_9", turnIndex: 4 }), call(2), call(1)]);
    openConsole(gateway, "/audit");
    await userEvent.click(await screen.findByLabelText("Group by conversation"));
    const one = await screen.findByRole("region", { name: "Conversation cnv_1" });
    expect(within(one).getByText("Turn 1 · 2 calls")).toBeDefined();
    expect(screen.getByText("Turn 5 · 1 call")).toBeDefined();
    expect(within(one).getByRole("link", { name: "cnv_1" }).getAttribute("href")).toBe(
      "/audit?conversation=cnv_1&group=conversation",
    );
  });

  test("has its numbers in a table, and a bar narrows the time to itself", async () => {
    answer([call(1)]);
    openConsole(gateway, "/audit");
    const table = await screen.findByRole("table", { name: "Calls over time" });
    expect(screen.getByRole("img").getAttribute("aria-label")).toMatch(/^1 call over time/);
    expect(within(table).getAllByRole("row")).toHaveLength(3);
    const bar = document.querySelector("svg[role=img] g");
    if (bar === null) throw new Error("no bar");
    await userEvent.click(bar);
    await waitFor(() => expect(new URLSearchParams(window.location.search).get("to")).toBe("2026-11-21T10:00:00.000Z"));
    expect(gateway.asked("audit/calls").at(-1)?.filter).toEqual({
      since: "2026-11-21T09:00:00.000Z",
      until: "2026-11-21T10:00:00.000Z",
    });
  });

  test("follows the log while it is asked to, and goes on where the last page ended", async () => {
    answer([call(1)]);
    gateway.handlers["audit/calls"] = ({ cursor }) =>
      cursor === undefined ? { calls: [call(2)], unread: 0, nextCursor: "9.2" } : { calls: [call(1)], unread: 0 };
    openConsole(gateway, "/audit");
    await userEvent.click(await screen.findByRole("button", { name: "Show older calls" }));
    expect(await screen.findAllByRole("link", { name: /write_file/ })).toHaveLength(2);
    const before = gateway.asked("audit/calls").length;
    await userEvent.click(screen.getByLabelText("Live"));
    await pass(3_500);
    expect(gateway.asked("audit/calls").length).toBeGreaterThan(before);
  });

  test("says that nothing matches, what is missing, and what went wrong", async () => {
    answer([], 12_000);
    openConsole(gateway, "/audit?tool=nothing");
    expect(await screen.findByText("No call matches in this time")).toBeDefined();
    expect(screen.getByText("12,000 records are still being read")).toBeDefined();
    gateway.handlers["audit/calls"] = () => Promise.reject(new Error("the history of calls cannot be read now"));
    await userEvent.click(screen.getByRole("button", { name: "Look in the last 400 days" }));
    const alert = await screen.findByRole("alert");
    answer([call(1)]);
    await userEvent.click(within(alert).getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("link", { name: /write_file/ })).toBeDefined();
  });

  test("keeps views under a name in this browser", async () => {
    answer([call(1)]);
    openConsole(gateway, "/audit?tool=write_file");
    await userEvent.click(await screen.findByText("Saved views"));
    await userEvent.type(screen.getByLabelText("Save this view as"), "Writing{Enter}");
    expect((await screen.findByRole("link", { name: "Writing" })).getAttribute("href")).toBe("/audit?tool=write_file");
    expect(readViews()).toEqual([{ name: "Writing", search: "?tool=write_file" }]);
    await userEvent.click(screen.getByRole("button", { name: "Remove the view Writing" }));
    expect(readViews()).toEqual([]);
  });

  test("reads no stored view that is none", () => {
    for (const stored of ["nonsense", "{}", '[{"name":"x","search":"//evil.example"},{"name":1},null]']) {
      localStorage.setItem("audit-views", stored);
      expect(readViews()).toEqual([]);
    }
  });
});

describe("the page of one call", () => {
  const details: CallDetails = {
    call: call(7, {
      approvalKind: "stepUp",
      askedAt: "2026-11-21T09:00:00.000Z",
      decidedAt: "2026-11-21T09:00:04.000Z",
      passkeyName: "Desk",
      startedAt: "2026-11-21T09:00:04.988Z",
      closedAt: "2026-11-21T09:00:05.000Z",
      durationMs: 12,
    }),
    entries: [
      {
        index: 7,
        hash: "ab".repeat(32),
        body: { event: "call:closed", at: 0 },
        payload: { arguments: { path: "<script>alert(1)</script>" }, result: { content: "do\u202Eevil" } },
      },
    ],
    rules: [{ id: "workspace.write", why: "Writing asks first" }],
    definition: { name: "write_file", description: "Writes <img src=x>", digest: "cd".repeat(32) },
    offered: [{ name: "write_file", permission: "consent", digest: "cd".repeat(32) }],
    snapshotDigest: "ef".repeat(32),
    title: "Notes",
    request: "please <b>write</b>",
  };

  test("shows all that is on record, and nothing of it as anything but text", async () => {
    requirement(
      "002-74",
      "a call's page shows who approved it with which passkey, the rule, and the tools of its turn",
    );
    gateway.handlers["audit/call"] = () => details;
    openConsole(gateway, "/audit/calls/7");
    for (const said of ["Writing asks first", "Desk", "Grace", "1 tool", "4 s", "12 ms"]) {
      expect(await screen.findByText(said)).toBeDefined();
    }
    expect(screen.getByText("please <b>write</b>")).toBeDefined();
    expect(document.querySelector("main b, main img, main script")).toBeNull();
    expect(screen.getAllByText("U+202E").length).toBeGreaterThan(0);
    expect(screen.getByRole("link", { name: "Download the receipt" }).getAttribute("href")).toBe(
      "/receipt?conversation=cnv_1&call=call_7",
    );
    expect(screen.getByRole("link", { name: "Why the policy decided so" }).getAttribute("href")).toBe(
      "/policy/explain?conversation=cnv_1&call=call_7",
    );
  });

  test("leads whoever may read the rules to why, and nobody else", async () => {
    gateway.profile = "guest";
    gateway.handlers["audit/call"] = () => details;
    openConsole(gateway, "/audit/calls/7");
    expect(await screen.findByText("Writing asks first")).toBeDefined();
    expect(screen.queryByRole("link", { name: "Why the policy decided so" })).toBeNull();
  });

  test("of a call that was refused early says what is not known", async () => {
    const { tool: _tool, ...withoutTool } = call(7, { outcome: "unknownTool" });
    gateway.handlers["audit/call"] = () => ({
      call: withoutTool,
      entries: [],
      rules: [],
    });
    openConsole(gateway, "/audit/calls/7");
    expect(await screen.findByText(/It is not kept/)).toBeDefined();
    expect(screen.getByText(/refused before it was compared/)).toBeDefined();
    expect(screen.getByText(/No rule of the policy decided/)).toBeDefined();
  });

  test("erases what is kept of the call once an operator confirms it, and says why it could not", async () => {
    requirement("002-74", "an operator erases what is kept of a call on its page");
    gateway.handlers["audit/call"] = () => details;
    gateway.handlers["audit/erase"] = () => {
      throw new RpcError(-32004, "the call has not closed; cancel it first");
    };
    openConsole(gateway, "/audit/calls/7");
    await userEvent.click(await screen.findByRole("button", { name: "Erase what is kept of it" }));
    const dialog = within(screen.getByRole("dialog"));
    expect(gateway.asked("audit/erase")).toEqual([]);
    await userEvent.click(dialog.getByRole("button", { name: "Erase" }));
    expect(await dialog.findByText(/has not closed/i)).toBeDefined();
    gateway.handlers["audit/erase"] = () => ({ records: 2, copies: [] });
    const bare = details.entries.map(({ payload: _payload, ...entry }) => entry);
    gateway.handlers["audit/call"] = () => ({ ...details, entries: bare });
    await userEvent.click(dialog.getByRole("button", { name: "Erase" }));
    expect((await screen.findByRole("region", { name: "Notice" })).textContent).toContain("is erased");
    expect(gateway.asked("audit/erase").at(-1)).toEqual({ conversationId: "cnv_1", callId: "call_7" });
    await waitFor(() => expect(screen.queryByRole("button", { name: "Erase what is kept of it" })).toBeNull());
  });

  test("erases the whole conversation of the call, and names the copies that are still there", async () => {
    requirement("002-74", "an operator erases a conversation from the page of one of its calls");
    gateway.handlers["audit/call"] = () => details;
    gateway.handlers["audit/erase"] = () => ({ records: 9, copies: ["cnv_2"] });
    openConsole(gateway, "/audit/calls/7");
    await userEvent.click(await screen.findByRole("button", { name: "Erase the whole conversation" }));
    const dialog = within(screen.getByRole("dialog", { name: "Erase this whole conversation?" }));
    expect(gateway.asked("audit/erase")).toEqual([]);
    await userEvent.click(dialog.getByRole("button", { name: "Erase" }));
    expect((await screen.findByRole("region", { name: "Notice" })).textContent).toContain("its copies: cnv_2");
    expect(gateway.asked("audit/erase")).toEqual([{ conversationId: "cnv_1" }]);
  });

  test("offers an auditor nothing to erase", async () => {
    gateway.profile = "auditor";
    gateway.handlers["audit/call"] = () => details;
    openConsole(gateway, "/audit/calls/7");
    expect(await screen.findByText("Writing asks first")).toBeDefined();
    expect(screen.queryByRole("button", { name: /^Erase/ })).toBeNull();
  });

  test("of an address that names no record says so without asking", async () => {
    openConsole(gateway, "/audit/calls/none");
    expect(await screen.findByText("Its address names no record.")).toBeDefined();
    expect(gateway.asked("audit/call")).toEqual([]);
  });
});

describe("the sums", () => {
  test("what people were asked stands by person and by tool, over the time of the address", async () => {
    gateway.handlers["audit/load"] = () => ({
      since: count.since,
      until: count.until,
      unread: 0,
      people: [
        {
          principalId: "usr_ada",
          principalName: "Ada",
          turns: 4,
          asked: 6,
          denied: 1,
          expired: 0,
          repeated: 3,
          questionsPerTurn: 1.5,
          medianWaitMs: 8_000,
        },
      ],
      tools: [
        {
          principalId: "usr_ada",
          principalName: "Ada",
          tool: "write_file",
          asked: 6,
          approved: 5,
          denied: 1,
          expired: 0,
          cancelled: 0,
          repeated: 3,
        },
      ],
    });
    openConsole(gateway, "/audit/load");
    expect(await screen.findByRole("cell", { name: "1.5" })).toBeDefined();
    expect(screen.getByRole("cell", { name: "8 s" })).toBeDefined();
    await userEvent.selectOptions(screen.getByLabelText("Time"), "30d");
    await waitFor(() => expect(gateway.asked("audit/load").at(-1)?.since).toMatch(/^2026-10-22T10:01/));
  });

  test("a model that the gateway does not know is named as that", async () => {
    gateway.handlers["audit/models"] = () => ({
      since: count.since,
      until: count.until,
      unread: 0,
      models: [
        {
          turns: 2,
          requests: 0,
          failures: 0,
          promptTokens: 0,
          completionTokens: 0,
          seconds: 0,
          calls: 3,
          callsRan: 2,
          callsPerTurn: 1.5,
        },
      ],
    });
    openConsole(gateway, "/audit/models");
    expect(await screen.findByRole("rowheader", { name: "not known to the gateway" })).toBeDefined();
    expect(screen.getByRole("cell", { name: "1.5" })).toBeDefined();
    const cells = screen.getAllByRole("cell").map((cell) => cell.textContent);
    const heads = screen.getAllByRole("columnheader").map((head) => head.textContent);
    // The first heading is that of the models, which are headings of their rows.
    expect(cells[heads.indexOf("Started") - 1]).toBe("2");
  });

  test("nothing in the time is said to be nothing", async () => {
    openConsole(gateway, "/audit/load");
    expect(await screen.findByText("Nobody began a turn in this time")).toBeDefined();
  });
});

describe("an auditor", () => {
  test("finds the audit log, and no page that does anything", async () => {
    gateway.profile = "auditor";
    answer([call(1)]);
    openConsole(gateway, "/");
    expect(await screen.findByRole("link", { name: /write_file/ })).toBeDefined();
    const [navigation] = screen.getAllByRole("navigation", { name: "Console" });
    expect(
      within(navigation as HTMLElement)
        .getAllByRole("link")
        .map((link) => link.textContent),
    ).toEqual(["Audit"]);
  });
});
