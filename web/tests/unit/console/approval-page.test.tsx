// @vitest-environment jsdom
import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Approval, ApprovalQuestion } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { prepareDocument } from "../ui/document.ts";
import { ask, FakeGateway } from "./fake-gateway.ts";
import { lookAtIt, openConsole, pass } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;

beforeEach(() => {
  gateway = new FakeGateway();
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const stepUp = () =>
  ask({ kind: "stepUp", tool: "delete_file", arguments: { path: "notes/old.txt" }, summary: "Delete notes/old.txt" });

async function open(question: ApprovalQuestion): Promise<void> {
  gateway.questions = [question];
  openConsole(gateway, `/approvals/${question.approval.id}`);
  await screen.findByRole("region", { name: "Your decision" });
}

function button(name: string | RegExp): HTMLElement {
  return screen.getByRole("button", { name });
}

const isOff = (element: HTMLElement) => element.getAttribute("aria-disabled") === "true";

function resolve(status: Approval["status"]): void {
  act(() => gateway.client.notify("approvals/resolved", { approvalId: "apr_1", callId: "call_1", status }));
}

describe("the page of one approval", () => {
  test("says what, with what, touching what and why, in this order, before it offers an answer", async () => {
    await open(ask());
    const text = document.querySelector("article")?.textContent ?? "";
    const parts = [
      "Write 5 characters to notes/new.txt",
      "Exactly this call of write_file",
      "notes/new.txtcontenthello",
      "Creates notes/new.txt.",
      "Changing files needs a person.",
      "If you approve, for how long?",
      "Deny",
      "Everything that is signed",
    ];
    const places = parts.map((part) => text.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  test("puts the focus on its heading, never on an answer", async () => {
    await open(ask());
    expect(document.activeElement?.tagName).toBe("H1");
  });

  test("shows hostile arguments as text that cannot pass for another", async () => {
    await open(ask({ arguments: { path: "invoice\u202efdp.exe", "na\u200bme": "<b>раypal</b>" } }));
    expect(screen.getAllByText("U+202E").length).toBeGreaterThan(0);
    expect(screen.getAllByText("U+200B").length).toBeGreaterThan(0);
    expect(screen.getAllByText("U+0440").length).toBeGreaterThan(0);
    expect(document.querySelector("article b")).toBeNull();
  });

  test("has the whole statement and the digest that this browser computed", async () => {
    const question = ask();
    await open(question);
    const signed = (await screen.findByText("Everything that is signed")).closest("details");
    expect(signed?.open).toBe(false);
    // Member by member in words first, and the bytes one click deeper.
    expect(within(signed as HTMLElement).getByText("Digest of the policy")).toBeDefined();
    expect(within(signed as HTMLElement).getAllByText("n0nce")).toHaveLength(1);
    const raw = within(signed as HTMLElement)
      .getByText("The same, byte for byte")
      .closest("details");
    expect(raw?.open).toBe(false);
    expect(raw?.textContent).toContain('"nonce":"n0nce"');
    expect(signed?.querySelector("code")?.textContent).toBe(question.approval.statementDigest);
    expect(signed?.textContent).toContain("the same as the gateway's");
  });
});

describe("an answer", () => {
  test("cannot be given before the page was in front for a moment", async () => {
    await open(ask());
    expect([isOff(button("Deny")), isOff(button("Approve once"))]).toEqual([true, true]);
    await userEvent.click(button("Approve once"));
    await userEvent.click(button("Deny"));
    expect(gateway.asked("approvals/decide")).toEqual([]);
    await lookAtIt();
    expect([isOff(button("Deny")), isOff(button("Approve once"))]).toEqual([false, false]);
  });

  test("waits again after the window lost the focus", async () => {
    await open(ask());
    await lookAtIt();
    act(() => {
      vi.mocked(document.hasFocus).mockReturnValue(false);
      window.dispatchEvent(new Event("blur"));
    });
    expect(isOff(button("Approve once"))).toBe(true);
  });

  test("approves one call unless the person says otherwise, with a challenge fetched for it", async () => {
    const question = ask();
    await open(question);
    await lookAtIt();
    gateway.questions = [{ ...question, challenge: "fresh" }];
    await userEvent.click(button("Approve once"));
    expect(await screen.findByText("Approved")).toBeDefined();
    expect(gateway.asked("approvals/decide")).toEqual([
      { approvalId: "apr_1", challenge: "fresh", decision: "approve", scope: "once" },
    ]);
    expect(gateway.environment.askPasskey).not.toHaveBeenCalled();
  });

  test("denies at one press, beside the other button, and without a passkey even where an approval needs one", async () => {
    await open(stepUp());
    await lookAtIt();
    const answers = within(screen.getByRole("region", { name: "Your decision" })).getAllByRole("button");
    expect(answers.map((answer) => answer.textContent)).toEqual(["Deny", "Approve with passkey"]);
    expect(answers[0]?.parentElement).toBe(answers[1]?.parentElement);
    await userEvent.click(button("Deny"));
    expect(await screen.findByText("Denied, not run")).toBeDefined();
    expect(gateway.asked("approvals/decide")).toMatchObject([{ decision: "deny" }]);
    expect(gateway.environment.askPasskey).not.toHaveBeenCalled();
  });

  test("leaves the keyboard where the answer was", async () => {
    await open(ask());
    await lookAtIt();
    button("Deny").focus();
    await userEvent.keyboard("{Enter}");
    await screen.findByText("Denied, not run");
    expect(document.activeElement).toBe(screen.getByRole("region", { name: "Your decision" }));
  });

  test("that the gateway does not take is explained, and can be given again", async () => {
    gateway.handlers["approvals/decide"] = () => {
      throw new RpcError(-32010, "this approval was answered a moment ago", "alreadyDecided");
    };
    await open(ask());
    await lookAtIt();
    await userEvent.click(button("Approve once"));
    expect((await screen.findByRole("alert")).textContent).toContain("This approval was answered a moment ago.");
    expect(isOff(button("Approve once"))).toBe(false);
  });
});

describe("an approval for a turn or a session", () => {
  test("pins every argument, says what it covers and what it became", async () => {
    const question = ask();
    gateway.handlers["approvals/decide"] = () => ({
      approval: { ...question.approval, status: "approved" },
      grant: {
        id: "grt_1",
        approvalId: "apr_1",
        scope: "turn",
        tool: "write_file",
        conversationId: "cnv_1",
        turnId: "trn_1",
        pins: {},
        freed: [],
        issuedAt: "2026-11-21T10:01:00.000Z",
        expiresAt: "2026-11-21T10:16:00.000Z",
        uses: 0,
        maxUses: 20,
      },
    });
    await open(question);
    await lookAtIt();
    await userEvent.click(await screen.findByLabelText("For this turn"));
    expect(screen.getByText(/Every call of write_file with path and content exactly as shown/)).toBeDefined();
    await userEvent.click(button("Approve for this turn"));
    expect(await screen.findByText(/for 15 minutes at most, and at most 20 times/)).toBeDefined();
    expect(gateway.asked("approvals/decide")).toMatchObject([{ scope: "turn", pins: ["path", "content"] }]);
  });

  test("with an argument freed warns, and going back to once frees nothing", async () => {
    await open(ask());
    await lookAtIt();
    await userEvent.click(await screen.findByLabelText("For this session"));
    await userEvent.click(screen.getByLabelText("All but content"));
    expect(screen.getByText("Calls will run with values that you have not seen.")).toBeDefined();
    await userEvent.click(screen.getByLabelText("Once"));
    await userEvent.click(screen.getByLabelText("For this session"));
    expect(screen.queryByText("Calls will run with values that you have not seen.")).toBeNull();
    await userEvent.click(screen.getByLabelText("All but content"));
    await userEvent.click(button("Approve for this session"));
    await screen.findByText("Approved");
    expect(gateway.asked("approvals/decide")).toMatchObject([{ scope: "session", pins: ["path"] }]);
  });

  test("lets an argument vary within the pattern that the gateway offers", async () => {
    await open(ask({ patterns: [{ argument: "path", kind: "folder", bound: "notes" }] }));
    await lookAtIt();
    await userEvent.click(await screen.findByLabelText("For this session"));
    await userEvent.click(screen.getByLabelText("All but path, which stays anywhere in the folder notes/"));
    expect(screen.getByText(/and path anywhere in the folder notes\//)).toBeDefined();
    await userEvent.click(button("Approve for this session"));
    await screen.findByText("Approved");
    expect(gateway.asked("approvals/decide")).toMatchObject([
      { scope: "session", pins: ["content"], within: "folder" },
    ]);
  });

  test("is never on offer for a step-up", async () => {
    await open(ask({ kind: "stepUp", offers: ["once", "turn", "session"] }));
    await lookAtIt();
    expect(screen.queryByText("If you approve, for how long?")).toBeNull();
  });
});

test("what was chosen for one approval is not taken over to the next, whose buttons wait again", async () => {
  const go = (id: string) => act(() => window.history.pushState(null, "", `/approvals/${id}`));
  gateway.questions = [ask(), ask({ id: "apr_2", tool: "send_mail", callId: "call_2" })];
  openConsole(gateway, "/approvals/apr_2");
  await screen.findByRole("heading", { name: /send_mail/ });
  go("apr_1");
  await screen.findByRole("heading", { name: /write_file/ });
  await lookAtIt();
  await userEvent.click(await screen.findByLabelText("For this session"));
  expect(isOff(button("Approve for this session"))).toBe(false);
  go("apr_2");
  await screen.findByRole("heading", { name: /send_mail/ });
  expect(await screen.findByLabelText("Once")).toHaveProperty("checked", true);
  expect([isOff(button("Deny")), isOff(button("Approve once"))]).toEqual([true, true]);
});

describe("a passkey", () => {
  test.each([
    ["a step-up", stepUp, "required"],
    [
      "a consent that asks for presence",
      () => ask({ needs: { presence: true, approvers: 1, requesterMayApprove: true } }),
      "discouraged",
    ],
  ])("signs the digest that the page computed: %s", async (_what, make, userVerification) => {
    const question = make();
    await open(question);
    await lookAtIt();
    await userEvent.click(button("Approve with passkey"));
    await screen.findByText("Approved");
    const challenge = Buffer.from(question.approval.statementDigest, "hex").toString("base64url");
    expect(gateway.environment.askPasskey).toHaveBeenCalledWith({
      challenge,
      rpId: "console.localhost",
      userVerification,
    });
    expect(gateway.asked("approvals/decide")).toMatchObject([{ challenge, assertion: { id: "known" } }]);
  });

  const other = Buffer.alloc(32).toString("base64url");

  test.each([
    ["options", { passkeyOptions: { challenge: other, rpId: "console.localhost" } }],
    ["challenge", { challenge: other }],
    ["challenge and options", { challenge: other, passkeyOptions: { challenge: other, rpId: "console.localhost" } }],
  ])("is not asked when the gateway's %s wants something else signed", async (_what, changes) => {
    const question = stepUp();
    await open(question);
    await lookAtIt();
    gateway.questions = [{ ...question, ...changes }];
    await userEvent.click(button("Approve with passkey"));
    expect((await screen.findByRole("alert")).textContent).toContain("over something else than what you read");
    expect(gateway.environment.askPasskey).not.toHaveBeenCalled();
    expect(gateway.asked("approvals/decide")).toEqual([]);
  });

  test("that does not answer decides nothing", async () => {
    gateway.environment.askPasskey.mockRejectedValue(new DOMException("secret", "NotAllowedError"));
    await open(stepUp());
    await lookAtIt();
    await userEvent.click(button("Approve with passkey"));
    expect((await screen.findByRole("alert")).textContent).toContain("Nothing has changed");
    expect(gateway.asked("approvals/decide")).toEqual([]);
  });
});

describe("a question whose page and statement differ", () => {
  test("cannot be approved but can be denied (docs/SECURITY.md case 28)", async () => {
    const question = ask();
    await open({
      ...question,
      approval: { ...question.approval, arguments: { path: "notes/harmless.txt", content: "hello" } },
    });
    await lookAtIt();
    expect((await screen.findByRole("alert")).textContent).toContain(
      "The set of arguments on this page is not the one",
    );
    expect([isOff(button("Deny")), isOff(button("Approve once"))]).toEqual([false, true]);
    await userEvent.click(button("Approve once"));
    expect(gateway.asked("approvals/get")).toHaveLength(1);
    await userEvent.click(button("Deny"));
    expect(gateway.asked("approvals/decide")).toMatchObject([{ decision: "deny" }]);
  });

  test("is not approved when it changed under the page", async () => {
    await open(ask());
    await lookAtIt();
    gateway.questions = [ask({ arguments: { path: "/etc/passwd", content: "hello" } })];
    await userEvent.click(button("Approve once"));
    expect((await screen.findByRole("alert")).textContent).toContain("is not what you read");
    expect(gateway.asked("approvals/decide")).toEqual([]);
  });
});

describe("an approval that ends without this page", () => {
  test.each([
    ["expired", "Expired, not run"],
    ["cancelled", "Cancelled, not run"],
    ["denied", "Denied, not run"],
    ["approved", "Approved"],
  ] as const)("shows in place that it is %s", async (status, words) => {
    await open(ask());
    resolve(status);
    expect(await screen.findByText(words)).toBeDefined();
    expect(screen.queryByRole("button", { name: "Deny" })).toBeNull();
  });

  test("says why it was withdrawn, where the gateway says so", async () => {
    await open(ask());
    const withdrawn = "this tool is not permitted in this session";
    act(() =>
      gateway.client.notify("approvals/resolved", {
        approvalId: "apr_1",
        callId: "call_1",
        status: "cancelled",
        withdrawn,
      }),
    );
    expect(await screen.findByText(new RegExp(withdrawn))).toBeDefined();
  });

  test("takes no answer when its time is up, and asks the gateway how it ended", async () => {
    await open(ask());
    await lookAtIt();
    gateway.questions = [ask({ status: "expired" })];
    await pass(4 * 60_000 + 4_000);
    expect(await screen.findByText("Expired, not run")).toBeDefined();
  });

  test("that was decided between reading and answering is not answered", async () => {
    await open(ask());
    await lookAtIt();
    gateway.questions = [ask({ status: "cancelled" })];
    await userEvent.click(button("Approve once"));
    expect((await screen.findByRole("alert")).textContent).toContain("decided a moment ago");
    expect(gateway.asked("approvals/decide")).toEqual([]);
  });

  test("that nobody knows is said to be unknown", async () => {
    openConsole(gateway, "/approvals/apr_9");
    expect(await screen.findByText("This approval cannot be shown")).toBeDefined();
    await waitFor(() => expect(screen.getByText("Unknown approval.")).toBeDefined());
  });
});
