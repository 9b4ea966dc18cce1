// @vitest-environment jsdom
import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { draftOf, valuesOf } from "../../../src/features/console/elicitations/form-values.ts";
import type { Elicitation, FormField } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { lookAtIt, openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
  gateway.handlers["elicitations/answer"] = () => ({});
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const FIELDS: FormField[] = [
  { name: "branch", kind: "text", title: "Bran\u202ech", required: true, options: [], most: 20 },
  { name: "count", kind: "integer", required: false, options: [], default: 3 },
  { name: "force", kind: "boolean", required: false, options: [] },
  {
    name: "size",
    kind: "choice",
    required: false,
    options: [
      { value: "s", label: "Small" },
      { value: "m", label: "Middle" },
    ],
  },
  { name: "tags", kind: "choices", required: false, options: [{ value: "a", label: "First" }] },
];

function question(changes: Partial<Elicitation> = {}): Elicitation {
  return {
    id: "eli_1",
    source: "git",
    tool: "git__push",
    conversationId: "cnv_1",
    callId: "c1",
    message: "Approve payment\u202e?",
    fields: FIELDS,
    speaksOfSecrets: false,
    askedAt: "2026-11-21T10:00:00.000Z",
    expiresAt: "2026-11-21T10:02:00.000Z",
    ...changes,
  };
}

const form = () => screen.findByRole("form", { name: "Question of git" });

describe("what a server asks", () => {
  test("is shown as coming from that server, with its words spelt out and said to be no approval", async () => {
    gateway.elicitations = [question()];
    openConsole(gateway, "/approvals");
    const shown = await form();
    expect(within(shown).getByRole("heading").textContent).toBe("The server git asks you");
    expect(shown.textContent).toContain("This is no approval");
    expect(shown.textContent).toContain("Approve paymentU+202E?");
    expect(within(shown).getByLabelText("BranU+202Ech (branch)")).toBeDefined();
    expect(within(shown).queryByRole("button", { name: /Approve/ })).toBeNull();
    expect(shown.textContent).not.toContain("It speaks of passwords");
    await waitFor(() => expect(document.title).toBe("(1) Approvals · Countersign console"));
  });

  test("is counted on the home page", async () => {
    gateway.elicitations = [question()];
    openConsole(gateway, "/");
    const card = await screen.findByRole("region", { name: "Approvals" });
    await waitFor(() => expect(card.textContent).toContain("1 question of a server waits on the approvals page."));
    expect(within(card).getByRole("heading").textContent).toBe("No call waits for you");
  });

  test("is announced, appears by itself and goes when it is resolved", async () => {
    openConsole(gateway, "/approvals");
    await screen.findByText("Nothing waits for you");
    act(() => gateway.client.notify("elicitations/requested", { elicitation: question({ speaksOfSecrets: true }) }));
    expect((await form()).textContent).toContain("It speaks of passwords, keys or codes");
    expect(screen.getAllByRole("status").map((region) => region.textContent)).toContain(
      "The server git asks you something.",
    );
    act(() => gateway.client.notify("elicitations/resolved", { elicitationId: "eli_1", status: "withdrawn" }));
    await waitFor(() => expect(screen.queryByRole("form")).toBeNull());
  });

  test("is answered with what was filled in, and not before somebody can have seen it", async () => {
    gateway.elicitations = [question()];
    openConsole(gateway, "/approvals");
    const shown = within(await form());
    const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
    await user.click(shown.getByRole("button", { name: "Send to git" }));
    expect(gateway.asked("elicitations/answer")).toEqual([]);
    await lookAtIt();
    await user.type(shown.getByLabelText(/branch/), "main");
    await user.click(shown.getByLabelText(/force/));
    await user.selectOptions(shown.getByLabelText(/size/), "m");
    await user.click(shown.getByLabelText("First"));
    await user.click(shown.getByRole("button", { name: "Send to git" }));
    expect(gateway.asked("elicitations/answer")).toEqual([
      {
        elicitationId: "eli_1",
        action: "accept",
        values: { branch: "main", count: 3, force: true, size: "m", tags: ["a"] },
      },
    ]);
    await waitFor(() => expect(screen.queryByRole("form")).toBeNull());
  });

  test.each([
    ["Decline", "decline"],
    ["Give no answer", "cancel"],
  ])("sends nothing on %s", async (name, action) => {
    gateway.elicitations = [question()];
    openConsole(gateway, "/approvals");
    const shown = within(await form());
    await lookAtIt();
    const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
    await user.click(shown.getByRole("button", { name }));
    expect(gateway.asked("elicitations/answer")).toEqual([{ elicitationId: "eli_1", action }]);
  });

  test("says what the gateway does not take, and stays", async () => {
    gateway.elicitations = [question()];
    gateway.handlers["elicitations/answer"] = () => {
      throw new RpcError(-32602, "`branch` has to be filled in");
    };
    openConsole(gateway, "/approvals");
    const shown = within(await form());
    await lookAtIt();
    const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
    await user.click(shown.getByRole("button", { name: "Send to git" }));
    expect(await shown.findByText("`branch` has to be filled in.")).toBeDefined();
  });
});

describe("the values of a form", () => {
  test("begin as the server filled them in", () => {
    const filled = draftOf([
      ...FIELDS,
      { name: "more", kind: "choices", required: false, options: [], default: ["a"] },
      { name: "on", kind: "boolean", required: false, options: [], default: true },
    ]);
    expect(filled).toEqual({ branch: "", count: "3", force: false, size: "", tags: [], more: ["a"], on: true });
  });

  test("leave out what is empty, and pass on what is no number as it was written", () => {
    expect(valuesOf(FIELDS, draftOf(FIELDS))).toEqual({ count: 3, force: false });
    expect(valuesOf(FIELDS, { count: "many" })).toEqual({ count: "many", force: false });
  });
});
