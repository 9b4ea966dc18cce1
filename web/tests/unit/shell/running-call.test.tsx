// @vitest-environment jsdom
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";
import type { CallCard } from "../../../src/agent/conversation.ts";
import { isHeld } from "../../../src/features/shell/log/held-calls.ts";
import { ToolCallView } from "../../../src/features/shell/log/ToolCallView.tsx";
import type { ApprovalStatus } from "../../../src/protocol/generated.ts";

afterEach(cleanup);

const running: CallCard = {
  call: { id: "call_1", name: "long__job", arguments: { steps: 3 } },
  turnId: "trn_1",
  phase: "running",
  progress: { lines: ["step one", "step\u202e two"], fraction: 0.666 },
};

function show(card: CallCard): string[] {
  const cancelled: string[] = [];
  render(<ToolCallView card={card} onCancel={(id) => cancelled.push(id)} />);
  return cancelled;
}

test("a call that runs shows how far it is and what it has said so far, with nothing hidden in it", () => {
  show(running);
  const card = screen.getByRole("article", { name: "long__job: Running" });
  expect(within(card).getByRole("progressbar", { name: "Progress" }).getAttribute("value")).toBe("0.666");
  expect(card.textContent).toContain("66 %");
  expect(card.textContent).toContain("stepU+202E two");
  expect(within(card).getByText("Output so far").closest("details")?.textContent).toContain("step one");
});

test("a call that runs is cancelled by its own button, and no other call has one", async () => {
  const cancelled = show(running);
  await userEvent.click(screen.getByRole("button", { name: "Cancel call of long__job" }));
  expect(cancelled).toEqual(["call_1"]);
  cleanup();
  for (const phase of ["proposed", "waiting", "closed"] as const) {
    show({ ...running, phase });
    expect(screen.queryByRole("button", { name: "Cancel call of long__job" })).toBeNull();
    cleanup();
  }
});

test("a call behind one that waits has not begun, says so, and can be cancelled", () => {
  const held: CallCard = {
    call: { id: "call_2", name: "long__job", arguments: {} },
    turnId: "trn_1",
    phase: "running",
  };
  const first: CallCard = { ...held, call: { ...held.call, id: "call_1" }, phase: "waiting" };
  const entries = ["call_1", "call_2"].map((callId) => ({ key: callId, kind: "call", callId }) as const);
  const isHeldBehind = (before: CallCard, card = held) =>
    isHeld({ entries, calls: { call_1: before, call_2: card } }, card);
  expect(isHeldBehind(first)).toBe(true);
  expect(isHeldBehind({ ...first, phase: "running" })).toBe(false);
  expect(isHeldBehind({ ...first, turnId: "trn_0" })).toBe(false);
  expect(isHeldBehind(first, { ...held, progress: { lines: ["begun"] } })).toBe(false);
  expect(isHeld({ entries, calls: { call_1: held, call_2: first } }, held)).toBe(false);
  render(<ToolCallView card={held} held onCancel={() => undefined} />);
  expect(screen.getByRole("article", { name: "long__job: Waits its turn" })).toBeDefined();
  expect(screen.getByRole("button", { name: "Cancel call of long__job" })).toBeDefined();
});

test("a step that was answered with no says so at once, though its result comes only after the step before it", () => {
  const step: CallCard = {
    call: { id: "call_2", name: "delete_file", arguments: {} },
    turnId: "trn_1",
    phase: "running",
  };
  const words = { denied: "Denied", expired: "Expired", cancelled: "Cancelled", approved: "Waits its turn" } as const;
  for (const [decided, said] of Object.entries(words)) {
    render(<ToolCallView card={{ ...step, decided: decided as ApprovalStatus }} held onCancel={() => undefined} />);
    expect(screen.getByRole("article", { name: `delete_file: ${said}` })).toBeDefined();
    expect(screen.queryByRole("button", { name: "Cancel call of delete_file" }) !== null).toBe(decided === "approved");
    cleanup();
  }
});

test("a call that waits points to its question and does not say it a second time", () => {
  show({ ...running, phase: "waiting", call: { ...running.call, arguments: { path: "notes/old.txt" } } });
  const line = screen.getByRole("article", { name: "long__job: Waiting for approval" });
  expect(line.textContent).toContain("The question stands below");
  expect(line.textContent).not.toContain("notes/old.txt");
});

test("of several calls that wait only the one whose question stands there points to it", () => {
  render(<ToolCallView card={{ ...running, phase: "waiting" }} behindAnother onCancel={() => undefined} />);
  expect(screen.getByRole("article").textContent).not.toContain("The question stands below");
});

test("arguments are folded only where the line does not say them whole", () => {
  const result = { outcome: "ok", content: "done", trust: "trusted", truncated: false } as const;
  const ended = (given: Record<string, unknown>) => {
    show({ ...running, phase: "closed", result, call: { ...running.call, arguments: given } });
    const said = screen.getByRole("article", { name: "long__job: Done" }).textContent;
    const folded = screen.queryByText("Arguments") !== null;
    cleanup();
    return [said?.includes(Object.keys(given).join()), folded];
  };
  expect(ended({ path: "notes/old.txt" })).toEqual([true, false]);
  expect(ended({})).toEqual([true, false]);
  expect(ended({ deep: true })).toEqual([true, false]);
  expect(ended({ count: 3 })).toEqual([true, false]);
  // "true" and true look alike in a line, and so do one space and two.
  expect(ended({ deep: "true" })).toEqual([true, true]);
  expect(ended({ count: "3" })).toEqual([true, true]);
  expect(ended({ deep: ["true"] })).toEqual([true, true]);
  expect(ended({ text: "a  b" })).toEqual([true, true]);
  expect(ended({ text: "x".repeat(81) })).toEqual([true, true]);
});

test("what a call had said stays when it was cancelled, and gives way to a result", () => {
  const result = { outcome: "cancelled", content: "", trust: "trusted", truncated: false } as const;
  show({ ...running, phase: "closed", result });
  expect(screen.getByText("What it said before it ended").closest("details")?.textContent).toContain("step one");
  cleanup();
  show({ ...running, phase: "closed", result: { ...result, outcome: "ok", content: "done" } });
  expect(screen.queryByText("What it said before it ended")).toBeNull();
});

test("what came with a result is shown where it is an image, and saved where it is anything else", () => {
  const part = { bytes: 1200, digest: "0".repeat(64) };
  const attachments = [
    { ...part, id: "res_1", mediaType: "image/png" },
    { ...part, id: "res_2", mediaType: "application/octet-stream" },
  ] as const;
  const result = { outcome: "ok", content: "two", trust: "untrusted", truncated: false } as const;
  show({ ...running, phase: "closed", result: { ...result, attachments: [...attachments] } });
  const image = screen.getByRole("img", { name: "From long__job, 1,200 bytes, not described" });
  expect(image.getAttribute("src")).toBe("/attachments/res_1");
  const file = screen.getByRole("link", { name: "Save a file of 1,200 bytes" });
  expect(file.getAttribute("href")).toBe("/attachments/res_2");
  expect(file.hasAttribute("download")).toBe(true);
});
