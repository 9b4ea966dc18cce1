// @vitest-environment jsdom
import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { ApprovalQuestion } from "../../../src/protocol/generated.ts";
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

const button = (name: string) => screen.getByRole("button", { name });
const isOff = (element: HTMLElement) => element.getAttribute("aria-disabled") === "true";

const LINES = Array.from({ length: 62 }, (_, index) => `line ${index + 1}`);

describe("the arguments", () => {
  test("of a long text stand on pages, and nothing can be approved before the last one was shown", async () => {
    await open(ask({ arguments: { path: "notes/new.txt", content: LINES.join("\n") } }));
    await lookAtIt();
    const seen = new Set<string>();
    const look = () => {
      const text = document.querySelector("[aria-labelledby=arguments]")?.textContent ?? "";
      for (const line of LINES) if (new RegExp(`${line}(?!\\d)`).test(text)) seen.add(line);
    };
    look();
    expect(seen.has("line 31")).toBe(false);
    expect(screen.getByText(/pages of the arguments to read before you can approve/)).toBeDefined();
    while (isOff(button("Approve once"))) {
      expect(isOff(button("Deny"))).toBe(false);
      await userEvent.click(button("Approve once"));
      await userEvent.click(button("Next page"));
      look();
    }
    expect([...seen]).toEqual(LINES);
    expect(gateway.asked("approvals/decide")).toEqual([]);
    expect(document.activeElement?.getAttribute("aria-label")).toMatch(/^Arguments, page (\d) of \1$/);
    await userEvent.click(button("Previous page"));
    expect(isOff(button("Approve once"))).toBe(false);
    await userEvent.click(button("Approve once"));
    await screen.findByText("Approved");
  });

  test("are read to the end by keyboard alone", async () => {
    await open(ask({ arguments: { content: "x".repeat(4_000) } }));
    await lookAtIt();
    button("Next page").focus();
    await userEvent.keyboard("{Enter}");
    expect(screen.getByText("1 page of the arguments to read before you can approve.")).toBeDefined();
    button("Next page").focus();
    await userEvent.keyboard("{Enter}");
    expect(isOff(button("Approve once"))).toBe(false);
  });

  test("are in the author's order, however deep, and nothing is folded", async () => {
    const deep = { a: { b: { c: { d: { e: { f: ["found"] } } } } } };
    const question = ask({ arguments: { deep, zero: {}, first: true } });
    await open({ ...question, order: ["first", "deep", "gone"] });
    const text = document.querySelector("article")?.textContent ?? "";
    expect(text).toContain("firstyesdeepabcdef1foundzeroempty object");
    // What is signed says the same once more, one click deeper.
    expect(document.querySelector("article details:not([open], .signed) dl")).toBeNull();
  });
});

describe("words that came from untrusted content", () => {
  const copied = {
    copies: [{ argument: "to", text: "billing@attacker.example", tool: "read_mail", callId: "c1", about: "inbox/17" }],
    complete: true,
  };

  test("are marked with the result in which they stand", async () => {
    await open({ ...ask(), copied });
    const mark = screen.getByText("Parts of this came from untrusted content, not from you").closest("[role=note]");
    expect(mark?.textContent).toContain(
      "billing@attacker.example in to stands in the result of read_mail for inbox/17.",
    );
    expect(mark?.textContent).not.toContain("more untrusted content than can be compared");
  });

  test("are said to be possible where there was too much to compare", async () => {
    await open({ ...ask(), copied: { copies: [], complete: false } });
    expect(screen.getByText("Parts of this may come from untrusted content")).toBeTruthy();
    expect(screen.getByText(/more untrusted content than can be compared/)).toBeTruthy();
  });

  test("are not spoken of where there are none", async () => {
    await open(ask());
    expect(screen.queryByText(/untrusted content/)).toBeNull();
  });
});

type Preview = NonNullable<ApprovalQuestion["preview"]>;

function change(changes: Partial<Preview>): Preview {
  return { change: "replace", target: "notes/new.txt", digest: "d1", lines: [], complete: true, ...changes };
}

describe("what the call changes now", () => {
  test.each([
    [change({ change: "create", bytesAfter: 1 }), "There is no such file yet. It will have 1 byte."],
    [change({ bytesBefore: 1_200, bytesAfter: 5 }), "has 1,200 bytes and is replaced by one of 5 bytes."],
    [change({ change: "keep", bytesBefore: 5 }), "holds exactly this already, 5 bytes."],
    [change({ change: "delete", bytesBefore: 7 }), "has 7 bytes and is removed."],
    [change({ change: "send", bytesAfter: 1_200 }), "What it sendsThis is sent, with a body of 1,200 bytes:"],
    [change({ change: "send", bytesAfter: 0 }), "This is sent, without a body:"],
    [change({ target: "3 rows of orders" }), "As things are now this changes: 3 rows of orders"],
    [change({ change: "create", target: "1 row of orders" }), "As things are now this adds: 1 row of orders"],
    [change({ change: "delete", target: "500 rows of orders" }), "As things are now this deletes: 500 rows of orders"],
    [
      change({ change: "keep", target: "0 rows of orders" }),
      "As things are now this changes nothing: 0 rows of orders",
    ],
    [change({ change: "make" }), "There is no such folder yet. It is made, empty."],
    [change({ complete: false }), "It is no text, or too long to be shown here."],
  ])("is said in words: $change", async (preview, words) => {
    await open({ ...ask(), preview });
    expect(document.querySelector("article")?.textContent).toContain(words);
  });

  test("is shown line by line, with hostile contents as inert text", async () => {
    const lines: Preview["lines"] = [
      { mark: "same", text: "one", count: 1 },
      { mark: "skipped", text: "", count: 14 },
      { mark: "removed", text: "<b>two</b>\u202e", count: 1 },
      { mark: "added", text: "three", count: 1 },
    ];
    await open({ ...ask(), preview: change({ lines, complete: false }) });
    const shown = screen.getAllByRole("listitem").map((item) => item.textContent);
    expect(shown).toEqual(
      expect.arrayContaining([" one", "⋯14 lines stay", "−removed: <b>two</b>U+202E", "+added: three"]),
    );
    expect(document.querySelector("article b")).toBeNull();
    expect(screen.getByText("More of it is not shown here.")).toBeDefined();
  });

  test("is a request as it leaves, line by line and with nothing folded", async () => {
    const long = `POST https://api.example.com/v1/${"a".repeat(2_000)}`;
    const lines: Preview["lines"] = [
      { mark: "same", text: long, count: 1 },
      { mark: "same", text: "Content-Type: application/json", count: 1 },
      { mark: "same", text: '{ "note": "<i>x</i>\u202e" }', count: 1 },
    ];
    await open({ ...ask(), preview: change({ change: "send", target: long, bytesAfter: 20, lines }) });
    const shown = within(screen.getByRole("list", { name: "What is sent" })).getAllByRole("listitem");
    expect(shown.map((item) => item.textContent)).toEqual([
      ` ${long}`,
      " Content-Type: application/json",
      ' { "note": "<i>x</i>U+202E" }',
    ]);
  });

  test("that is not what it was when the person looked is shown anew and not approved", async () => {
    const question = ask();
    const before = change({ lines: [{ mark: "removed", text: "harmless", count: 1 }] });
    await open({ ...question, preview: before });
    await lookAtIt();
    gateway.questions = [
      { ...question, preview: { ...before, digest: "d2", lines: [{ mark: "removed", text: "dear", count: 1 }] } },
    ];
    await userEvent.click(button("Approve once"));
    expect((await screen.findByRole("alert")).textContent).toContain("not what it was when you looked");
    expect(await screen.findByText("dear")).toBeDefined();
    expect(isOff(button("Approve once"))).toBe(true);
    expect(gateway.asked("approvals/decide")).toEqual([]);
    await lookAtIt();
    await userEvent.click(button("Approve once"));
    await screen.findByText("Approved");
  });

  test("is not spoken of once nobody can decide any more", async () => {
    await open({ ...ask({ status: "expired" }), preview: change({ change: "delete", bytesBefore: 7 }) });
    expect(await screen.findByText("Expired, not run")).toBeDefined();
    expect(document.querySelector("article")?.textContent).not.toContain("is removed");
  });

  test("that could not work any more can only be denied", async () => {
    await open({ ...ask(), preview: change({ change: "impossible", obstacle: "there is no notes/new.txt" }) });
    await lookAtIt();
    expect(screen.getByText("there is no notes/new.txt")).toBeDefined();
    expect([isOff(button("Deny")), isOff(button("Approve once"))]).toEqual([false, true]);
  });
});
