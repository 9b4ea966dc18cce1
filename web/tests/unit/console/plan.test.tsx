// @vitest-environment jsdom
import { createHash } from "node:crypto";
import { act, cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { canonicalText } from "../../../src/features/console/approvals/challenge.ts";
import type { Approval, ApprovalQuestion } from "../../../src/protocol/generated.ts";
import { prepareDocument } from "../ui/document.ts";
import { ask, FakeGateway } from "./fake-gateway.ts";
import { lookAtIt, openConsole, pass } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let observers: { readonly see: () => void }[];

beforeEach(() => {
  gateway = new FakeGateway();
  observers = [];
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(told: (entries: readonly { readonly isIntersecting: boolean }[]) => void) {
        observers.push({ see: () => told([{ isIntersecting: true }]) });
      }
      observe() {}
      disconnect() {}
    },
  );
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function sha256(text: string) {
  return createHash("sha256").update(text);
}

/** A question of a plan, whose statement says where its call stands. */
function step(number: number, kind: Approval["kind"] = "consent"): ApprovalQuestion {
  const plan = number === 1 ? undefined : { first: "call_1", after: `call_${number - 1}`, step: number };
  const asked = ask({ id: `apr_${number}`, callId: `call_${number}`, kind, summary: `Do thing ${number}` });
  if (plan === undefined) return asked;
  const statement = { ...asked.statement, plan };
  const statementDigest = sha256(canonicalText(statement)).digest("hex");
  return { ...asked, statement, approval: { ...asked.approval, statementDigest, plan } };
}

/** Opens the page of a plan of these questions, all of which this person may answer. */
async function open(questions: readonly ApprovalQuestion[]): Promise<void> {
  gateway.questions = [...questions];
  gateway.handlers["approvals/get-plan"] = () => ({
    parts: questions.map((question) => ({ question, covered: true })),
  });
  gateway.handlers["approvals/decide-plan"] = () => ({
    approvals: questions.map(({ approval }, place) =>
      place === 0 ? { ...approval, status: "approved" } : { ...approval, answered: true },
    ),
  });
  openConsole(gateway, "/approvals/apr_2");
  await screen.findByRole("heading", { name: `${questions.length} steps wait for your approval` });
  await lookAtIt();
}

/** By its place and not by its role: with three statements on the page, asking for roles takes seconds. */
function approve(): HTMLElement {
  const button = document.querySelector<HTMLElement>("[aria-label='Your decision'] button");
  if (button === null) throw new Error("there is no decision to make");
  return button;
}
const isOff = (element: HTMLElement) => element.getAttribute("aria-disabled") === "true";
/** Once all that it waits for has come. */
async function pressApprove(): Promise<void> {
  await waitFor(() => expect(isOff(approve())).toBe(false));
  await userEvent.click(approve());
}
const see = async (...places: readonly number[]) => {
  await waitFor(() => expect(observers.length).toBeGreaterThan(Math.max(...places)));
  act(() => {
    for (const place of places) observers[place]?.see();
  });
  await pass(0);
};

describe("the page of a plan", () => {
  test("shows each statement whole and in order, and approves nothing before all of them were in sight", async () => {
    await open([step(1), step(2), step(3)]);
    const steps = [...document.querySelectorAll("[aria-label='Steps'] h2")];
    expect(steps.map(({ textContent }) => textContent)).toEqual(["Do thing 1", "Do thing 2", "Do thing 3"]);
    expect(isOff(approve())).toBe(true);
    await see(0, 1);
    expect(isOff(approve())).toBe(true);
    await see(2);
    await pressApprove();
    const parts = [1, 2, 3].map((number) => ({ approvalId: `apr_${number}`, challenge: `once-apr_${number}` }));
    await waitFor(() => expect(gateway.asked("approvals/decide-plan")).toEqual([{ parts }]));
  });

  test("says whose wish it was, and is gone through by keyboard", async () => {
    const questions = [step(1), step(2)].map((each) => ({
      ...each,
      background: { request: "do both things", title: "Things" },
    }));
    await open(questions);
    expect(screen.getByText("do both things")).toBeTruthy();
    expect(screen.getByRole("link", { name: "Things" })).toBeTruthy();
    await userEvent.keyboard("a");
    expect(document.activeElement).toBe(approve());
    for (const number of [1, 2]) {
      await userEvent.keyboard("d");
      expect(document.activeElement?.textContent).toBe(`Deny step ${number}`);
    }
    await userEvent.keyboard("j");
    expect(screen.getByText("do both things")).toBeTruthy();
  });

  test("has the passkey sign the list of the digests that this browser computed", async () => {
    const questions = [step(1), step(2, "stepUp")];
    await open(questions);
    await see(0, 1);
    await pressApprove();
    const statements = questions.map(({ statement }) => sha256(canonicalText(statement)).digest("hex"));
    const signed = sha256(canonicalText({ type: "countersign.plan", v: 1, statements })).digest("base64url");
    await waitFor(() => expect(gateway.environment.askPasskey).toHaveBeenCalled());
    expect(gateway.environment.askPasskey.mock.calls[0]?.[0]).toMatchObject({
      challenge: signed,
      userVerification: "required",
    });
  });

  test("refuses a plan that is no longer what was read", async () => {
    await open([step(1), step(2)]);
    await see(0, 1);
    gateway.handlers["approvals/get-plan"] = () => ({
      parts: [step(2), step(1)].map((question) => ({ question, covered: true })).slice(1),
    });
    await userEvent.click(approve());
    expect((await screen.findByRole("alert")).textContent).toContain("nothing was approved");
    expect(gateway.asked("approvals/decide-plan")).toEqual([]);
  });

  test("denies one step and leaves the others", async () => {
    await open([step(1), step(2), step(3)]);
    await userEvent.click(screen.getByText("Deny step 2"));
    expect(gateway.asked("approvals/decide")).toMatchObject([{ approvalId: "apr_2", decision: "deny" }]);
  });
});

test("the list of approvals has a plan as one thing", async () => {
  gateway.questions = [step(2, "stepUp"), step(1)];
  openConsole(gateway, "/approvals");
  const cards = await screen.findAllByRole("link", { name: /^Review/u });
  expect(cards.length).toBe(1);
  expect(screen.getByText("2 steps")).not.toBeNull();
  // It takes what its gravest step takes.
  expect(screen.getByText("needs your passkey")).toBeTruthy();
});

test("what waits is listed at home in the order in which it runs", async () => {
  gateway.questions = [step(3), step(1), step(2)];
  openConsole(gateway, "/");
  await screen.findByText("Do thing 3");
  const card = within(screen.getByRole("region", { name: "Approvals" }));
  const named = card.getAllByRole("paragraph").map(({ textContent }) => textContent);
  expect(named.slice(0, 3)).toEqual(["Do thing 1", "then Do thing 2", "then Do thing 3"]);
});
