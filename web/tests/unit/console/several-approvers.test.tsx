// @vitest-environment jsdom

import { createHash } from "node:crypto";
import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { canonicalText } from "../../../src/features/console/approvals/challenge.ts";
import type { Approval, ApprovalQuestion, ApproverStanding, GivenApproval } from "../../../src/protocol/generated.ts";
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

const ada: GivenApproval = { at: "2026-11-21T10:00:30.000Z", name: "Ada", principal: "prn_2" };
const nora: GivenApproval = { at: "2026-11-21T10:00:40.000Z", name: "Nora", principal: "prn_1" };

/** A question that takes two people, one of whom may act alone, with a statement that says so and whose digest is announced. */
function shared(changes: Partial<Approval> = {}, standing: ApproverStanding = "mayApprove"): ApprovalQuestion {
  const needs = { presence: true, approvers: 2, requesterMayApprove: true, breakGlass: true };
  const asked = ask({ kind: "stepUp", given: [], requester: "Ben", requesterId: "prn_3", needs, ...changes });
  const { approvers, breakGlass = false } = asked.approval.needs;
  const statement = {
    ...asked.statement,
    approvers: { needed: approvers, pool: null, requesterExcluded: false, breakGlass },
  };
  const hash = createHash("sha256").update(canonicalText(statement));
  const statementDigest = hash.copy().digest("hex");
  const challenge = hash.digest("base64url");
  return {
    ...asked,
    approval: { ...asked.approval, statementDigest },
    statement,
    standing,
    mayBreakGlass: breakGlass,
    challenge,
    passkeyOptions: { challenge, rpId: "console.localhost", userVerification: "required" },
  };
}

async function open(question: ApprovalQuestion): Promise<void> {
  gateway.questions = [question];
  openConsole(gateway, `/approvals/${question.approval.id}`);
  await screen.findByRole("region", { name: "Your decision" });
}

const decision = () => within(screen.getByRole("region", { name: "Your decision" }));
const buttons = () =>
  decision()
    .getAllByRole("button")
    .map(({ textContent }) => textContent);

describe("the page of a question that takes several people", () => {
  test("says whose call it is, how many it takes and who has approved", async () => {
    await open(shared({ given: [ada] }));
    const who = screen.getByRole("region", { name: "Who has to approve" });
    expect(who.textContent).toContain("2 different people, each with a passkey");
    expect(who.textContent).toContain("Asked for by Ben");
    expect(within(who).getByRole("status").textContent).toBe("1 of 2 people has approved.");
    expect(within(who).getByRole("listitem").textContent).toContain("Ada approved");
  });

  test("says that one approval counts, and does not call it a no while others are waited for", async () => {
    const question = shared();
    gateway.handlers = { "approvals/decide": () => ({ approval: { ...question.approval, given: [nora] } }) };
    await open(question);
    await lookAtIt();
    await userEvent.click(screen.getByRole("button", { name: "Approve with passkey" }));
    expect(await screen.findByText(/^You have approved it\./)).toBeDefined();
    expect(screen.getAllByRole("status").map(({ textContent }) => textContent)).toContain(
      "Your approval counts: 1 of 2 people has approved.",
    );
    expect(buttons()).toEqual(["Run it alone with passkey", "Deny"]);
  });

  test("does not say that who approved it denied it, when somebody else did", async () => {
    const question = shared();
    gateway.handlers = { "approvals/decide": () => ({ approval: { ...question.approval, given: [nora] } }) };
    await open(question);
    await lookAtIt();
    await userEvent.click(screen.getByRole("button", { name: "Approve with passkey" }));
    await screen.findByText(/^You have approved it\./);
    act(() => gateway.client.notify("approvals/resolved", { approvalId: "apr_1", callId: "call_1", status: "denied" }));
    expect(await screen.findByText(/^It was denied by somebody else/)).toBeDefined();
  });

  test("shows at once that somebody else approved it", async () => {
    const question = shared();
    await open(question);
    act(() => gateway.client.notify("approvals/changed", { approval: { ...question.approval, given: [ada] } }));
    expect(await screen.findByText("1 of 2 people has approved.")).toBeDefined();
    expect(gateway.asked("approvals/get")).toHaveLength(1);
  });

  test.each<readonly [ApproverStanding, Partial<Approval>, RegExp, readonly string[]]>([
    ["hasApproved", { given: [nora] }, /^You have approved it/, ["Deny"]],
    ["requesterExcluded", { requesterId: "prn_1" }, /^You asked for this call/, ["Deny"]],
    ["notAnApprover", {}, /^The policy names other people/, []],
    ["notAnApprover", { requesterId: "prn_1" }, /^The policy names other people/, ["Deny"]],
  ])("offers %s only what the gateway would take", async (standing, changes, why, offered) => {
    const needs = { presence: true, approvers: 2, requesterMayApprove: false };
    await open(shared({ needs, ...changes }, standing));
    await lookAtIt();
    expect(decision().getByText(why)).toBeDefined();
    expect(
      decision()
        .queryAllByRole("button")
        .map(({ textContent }) => textContent),
    ).toEqual(offered);
    expect(decision().queryByText(/Break the glass/)).toBeNull();
  });

  test.each([
    ["fewer people than the statement says", { approvers: 1 }],
    ["that nobody may act alone, where the statement lets one", { breakGlass: false }],
  ])("that shows %s cannot be approved", async (_, changes) => {
    const question = shared();
    const needs = { ...question.approval.needs, ...changes };
    await open({ ...question, approval: { ...question.approval, needs } });
    await lookAtIt();
    expect((await screen.findByRole("alert")).textContent).toContain("Who has to approve on this page");
    expect(screen.getByRole("button", { name: "Approve with passkey" }).getAttribute("aria-disabled")).toBe("true");
  });
});

describe("acting alone", () => {
  const alone = async (reason: string) => {
    await userEvent.click(screen.getByText(/^Break the glass/));
    if (reason !== "") await userEvent.type(screen.getByLabelText("Why can this not wait for somebody else?"), reason);
    await userEvent.click(screen.getByRole("button", { name: "Run it alone with passkey" }));
  };

  test.each([
    ["", "Say it in at least 10 characters."],
    ["too short", "Say it in at least 10 characters."],
    ["it is down \u202e now", "Use only plain text"],
  ])("asks no passkey for the reason %j", async (reason, fault) => {
    await open(shared());
    await lookAtIt();
    await alone(reason);
    expect(await screen.findByText(new RegExp(fault))).toBeDefined();
    expect(gateway.environment.askPasskey).not.toHaveBeenCalled();
  });

  test("signs the statement with the person and the reason in it, and verifies the person", async () => {
    const question = shared();
    await open(question);
    await lookAtIt();
    await alone("  the site is down ");
    await waitFor(() => expect(gateway.asked("approvals/decide")).toHaveLength(1));
    const signed = canonicalText({
      ...question.statement,
      breakGlass: { principal: "prn_1", reason: "the site is down" },
    });
    expect(gateway.environment.askPasskey).toHaveBeenCalledWith(
      expect.objectContaining({
        challenge: createHash("sha256").update(signed).digest("base64url"),
        userVerification: "required",
      }),
    );
    expect(gateway.asked("approvals/decide")).toEqual([
      expect.objectContaining({
        challenge: question.challenge,
        decision: "approve",
        scope: "once",
        breakGlass: "the site is down",
      }),
    ]);
  });
});

describe("the list of approvals", () => {
  test("separates what waits for others, counts only one's own, and denies only that", async () => {
    const ids = ["apr_1", "apr_2", "apr_3"] as const;
    const [mine, given, another] = ids.map((id) =>
      shared({ id, summary: id, ...(id === "apr_2" && { given: [nora] }) }),
    );
    const plain = ask({ id: "apr_4", summary: "apr_4" });
    if (!(mine && given && another)) throw new Error("three questions");
    gateway.questions = [mine, given, { ...another, standing: "notAnApprover" }, plain];
    gateway.handlers = {
      "approvals/decide": ({ approvalId }) => {
        const [found] = gateway.questions.filter(({ approval }) => approval.id === approvalId);
        if (found === undefined) throw new Error("no such question");
        return { approval: { ...found.approval, status: "denied" } };
      },
    };
    openConsole(gateway, "/approvals");
    const others = await screen.findByRole("region", { name: "Waiting for somebody else" });
    expect(within(others).getAllByRole("listitem")).toHaveLength(1);
    expect(others.textContent).toContain("apr_2");
    await waitFor(() => expect(document.title).toBe("(3) Approvals · Countersign console"));
    await userEvent.click(screen.getByText("Deny all 3"));
    await userEvent.click(screen.getByText("Deny all"));
    expect((await screen.findByRole("region", { name: "Notice" })).textContent).toContain("2 calls were denied.");
    expect(gateway.asked("approvals/decide").map(({ approvalId }) => approvalId)).toEqual(["apr_1", "apr_4"]);
  });

  test("tells operators, on the list and on the first page, what one of them did alone", async () => {
    const broken = {
      approvalId: "apr_9",
      tool: "delete_file",
      name: "Ada",
      at: "2026-11-21T09:00:00.000Z",
      reason: "the site is down",
    };
    gateway.handlers = { "approvals/list": () => ({ approvals: [], stopped: [], brokenGlass: [] }) };
    openConsole(gateway, "/");
    expect(await screen.findByText("Nothing waits for you")).toBeDefined();
    expect(screen.queryByText("An operator acted alone")).toBeNull();
    gateway.handlers = { "approvals/list": () => ({ approvals: [], stopped: [], brokenGlass: [broken] }) };
    act(() => gateway.client.notify("approvals/break-glass", broken));
    expect(await screen.findByText("An operator acted alone")).toBeDefined();
    expect(screen.getByText("the site is down")).toBeDefined();
    expect(screen.getAllByRole("status").map(({ textContent }) => textContent)).toContain(
      "Ada did alone what takes several people: a call of delete_file.",
    );
    await userEvent.click(screen.getByRole("link", { name: "See what was decided" }));
    expect(await screen.findByText("An operator acted alone")).toBeDefined();
  });
});
