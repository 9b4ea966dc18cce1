// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { advance, type Conversation, emptyConversation, restore } from "../../../src/agent/conversation.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { Log } from "../../../src/features/shell/log/Log.tsx";
import { openingOf } from "../../../src/features/shell/log/opening.ts";
import { approvalFor } from "./approvals.ts";
import { NoResizes } from "./scripted-client.ts";

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", NoResizes);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const props = {
  label: "A conversation",
  sendKey: "enter" as const,
  busy: true,
  figures: new Map(),
  onCancelCall: () => undefined,
  onAskAgain: () => undefined,
  branchesAt: () => null,
  onOpenBranch: () => undefined,
  onCompare: () => undefined,
  onCallAgain: () => undefined,
  onSend: () => undefined,
  whenIdle: () => undefined,
};

const begun: AgentEvent[] = [
  { type: "turn:begun", turnId: "trn_1", text: "save it and show reports/", tools: [] },
  { type: "model:asked" },
];
const split: AgentEvent = { type: "actions:split", actions: ["save it", "show reports/"] };

function after(...events: AgentEvent[]): Conversation {
  return [...begun, ...events].reduce(advance, emptyConversation);
}

test("the steps of a message are listed, and which of them is under way", () => {
  const { rerender } = render(<Log view={after(split, { type: "action:begun", index: 0 })} {...props} />);
  const steps = () => within(screen.getByRole("list", { name: "Steps of this message" })).getAllByRole("listitem");
  expect(steps().map((step) => step.getAttribute("aria-current"))).toEqual(["step", null]);
  rerender(<Log view={after(split, { type: "action:begun", index: 1 })} {...props} />);
  expect(steps().map((step) => step.getAttribute("aria-current"))).toEqual([null, "step"]);
  expect(steps()[0]?.textContent).toContain("(done)");
});

test("a step that came to nothing is not called done", () => {
  const denied = { outcome: "deniedByUser", content: "", trust: "trusted", truncated: false } as const;
  const view = after(
    split,
    { type: "call:proposed", call: { id: "call_1", name: "write_file", arguments: {} } },
    { type: "call:closed", callId: "call_1", result: denied },
    { type: "assistant:said", content: "You said no.", stopped: false },
    { type: "action:begun", index: 1 },
  );
  render(<Log view={view} {...props} />);
  const list = screen.getByRole("list", { name: "Steps of this message" });
  expect(within(list).getAllByRole("listitem")[0]?.textContent).toContain("(not done)");
});

test("what the loop says is marked as English, and what the assistant says is not", () => {
  const refused = { outcome: "timedOut", content: "", trust: "trusted", truncated: false } as const;
  const view = after(
    { type: "call:proposed", call: { id: "call_1", name: "write_file", arguments: {} } },
    { type: "call:closed", callId: "call_1", result: refused },
    { type: "assistant:said", content: "Wie Sie wollen.", stopped: false },
    { type: "notice:raised", tone: "info", text: "The answer was cut." },
  );
  render(<Log view={view} {...props} />);
  const languageOf = (text: RegExp) => screen.getByText(text).closest("[lang]")?.getAttribute("lang") ?? null;
  expect(languageOf(/Nobody approved/)).toBe("en");
  expect(languageOf(/The answer was cut/)).toBe("en");
  expect(screen.getByText("Wie Sie wollen.").closest("[lang]:not(html)")).toBeNull();
});

test("a model that says only that more follows has its steps counted", () => {
  render(<Log view={after({ type: "action:begun", index: 1 })} {...props} />);
  expect(screen.getByText("Step 2")).toBeDefined();
});

test("the steps go when the turn is over", () => {
  render(<Log view={after(split, { type: "turn:ended", ending: "answered", label: "words" })} {...props} />);
  expect(screen.queryByRole("list", { name: "Steps of this message" })).toBeNull();
});

test("a model that is slow is not said to wake up: only that no word has come", () => {
  vi.useFakeTimers();
  render(<Log view={after()} {...props} />);
  expect(screen.queryByText(/No word of an answer/)).toBeNull();
  act(() => vi.advanceTimersByTime(5_000));
  expect(screen.getByText(/No word of an answer has come yet/)).toBeTruthy();
  expect(document.body.textContent).not.toMatch(/wake/);
  vi.useRealTimers();
});

test("a message that is sent is followed, however far up the reader is, and an answer is not", () => {
  const first = after({ type: "assistant:said", content: "Hello.", stopped: false });
  const { rerender } = render(<Log view={first} {...props} />);
  const log = screen.getByRole("log");
  Object.defineProperties(log, { scrollHeight: { get: () => 2_000 }, clientHeight: { get: () => 500 } });
  log.scrollTop = 0;
  fireEvent.scroll(log);
  const answered = advance(first, { type: "assistant:said", content: "And more.", stopped: false });
  rerender(<Log view={answered} {...props} />);
  expect(log.scrollTop).toBe(0);
  expect(screen.getByRole("button", { name: /Jump to latest/ })).toBeTruthy();
  rerender(<Log view={advance(answered, { ...begun[0], turnId: "trn_2" } as AgentEvent)} {...props} />);
  expect(log.scrollTop).toBe(2_000);
  expect(screen.queryByRole("button", { name: /Jump to latest/ })).toBeNull();
});

test("calls of one tool that wait are told apart by what they are about", () => {
  const view = after(
    { type: "call:proposed", call: { id: "call_1", name: "write_file", arguments: { path: "a.md" } } },
    { type: "call:proposed", call: { id: "call_2", name: "write_file", arguments: { path: "b.md" } } },
    { type: "approval:requested", approval: approvalFor("call_1") },
    { type: "approval:requested", approval: approvalFor("call_2") },
  );
  render(<Log view={view} {...props} />);
  const cards = screen.getAllByRole("article", { name: "write_file: Waiting for approval" });
  expect(cards.map((card) => /path: (\S+?\.md)/.exec(card.textContent ?? "")?.[1])).toEqual(["a.md", "b.md"]);
});

test("a call that nobody decided about in time is asked for again once, and not while a turn is under way", () => {
  const given = { path: "a.txt" };
  const expired = {
    outcome: "refusedByPolicy",
    reason: "approvalExpired",
    content: "",
    trust: "trusted",
    truncated: false,
  } as const;
  const late: AgentEvent[] = [
    { type: "call:proposed", call: { id: "call_1", name: "delete_file", arguments: given } },
    { type: "call:closed", callId: "call_1", result: expired },
    { type: "turn:ended", ending: "answered", label: "words" },
  ];
  const offers = () => screen.queryAllByRole("button", { name: "Ask me again" }).length;
  const { rerender } = render(<Log view={after(...late)} {...props} busy={false} />);
  expect(offers()).toBe(1);
  rerender(<Log view={after(...late)} {...props} busy />);
  expect(offers()).toBe(0);
  const again: AgentEvent[] = [
    ...late,
    { type: "turn:begun", turnId: "trn_2", text: "/call delete_file", tools: [] },
    { type: "call:proposed", call: { id: "call_2", name: "delete_file", arguments: { path: "b.txt" } } },
  ];
  rerender(<Log view={after(...again)} {...props} busy={false} />);
  expect(offers()).toBe(1);
  const same: AgentEvent = { type: "call:proposed", call: { id: "call_3", name: "delete_file", arguments: given } };
  rerender(<Log view={after(...again, same)} {...props} busy={false} />);
  expect(offers()).toBe(0);
});

test("a list that was asked for below an answer leaves the answer its ways on, and has none of its own", () => {
  const begun = { type: "turn:begun", turnId: "trn_1", text: "hello", tools: [] } as const;
  const said = { type: "assistant:said", content: "Hello.", stopped: false } as const;
  const ended = { type: "turn:ended", ending: "answered", label: "words" } as const;
  const shown = { type: "panel:shown", panel: { kind: "help" } } as const;
  const view = [begun, said, ended, shown].reduce(advance, emptyConversation);
  render(<Log view={view} {...props} busy={false} />);
  const [again, ...more] = screen.getAllByRole("button", { name: "Try again in a branch" });
  expect(more).toEqual([]);
  const copy = screen.getByRole("button", { name: "Copy answer" });
  expect(copy.parentElement).toBe(again?.parentElement);
});

test("the keys of the help are those that the person has set", () => {
  const view = advance(emptyConversation, { type: "panel:shown", panel: { kind: "help" } });
  render(<Log view={view} {...props} sendKey="withCtrl" />);
  expect(screen.getByRole("region", { name: "Commands" }).textContent).toContain("Ctrl+Enter sends");
});

test("what the page said for whoever attached a file is no question to copy", () => {
  const call = { id: "call_1", name: "read_attachment", arguments: { name: "a.csv", data: "bW9udGg=" } };
  const view = [
    { type: "turn:begun", turnId: "trn_1", text: "Attached a.csv", tools: [] } as const,
    { type: "call:proposed", call } as const,
  ].reduce(advance, emptyConversation);
  render(<Log view={view} {...props} busy={false} />);
  expect(screen.getByText("Attached a.csv")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Copy question" })).toBeNull();
});

test("how fast an answer came is said in figures that mean something", () => {
  const begun = { type: "turn:begun", turnId: "trn_1", text: "hello", tools: [] } as const;
  const said = { type: "assistant:said", content: "Hello.", stopped: false } as const;
  const view = [begun, said, { type: "turn:ended", ending: "answered", label: "words" } as const].reduce(
    advance,
    emptyConversation,
  );
  const taken = (tokens: number) => new Map([["trn_1", { tokens, seconds: 0.003, firstSeconds: 0.1 }]]);
  const { rerender } = render(<Log view={view} {...props} busy={false} figures={taken(14)} />);
  expect(screen.getByText("14 tokens · 4,700 tokens/s · first words after 0.1 s")).toBeTruthy();
  rerender(<Log view={view} {...props} busy={false} figures={taken(1)} />);
  expect(screen.getByText("1 token · first words after 0.1 s")).toBeTruthy();
});

describe("a question", () => {
  const asked = (text: string) =>
    [
      { type: "turn:begun", turnId: "trn_1", text, tools: [] } as const,
      { type: "assistant:said", content: "Hello.", stopped: false } as const,
      { type: "turn:ended", ending: "answered", label: "words" } as const,
    ].reduce(advance, emptyConversation);
  const pasted = Array.from({ length: 40 }, (_, line) => `line ${line}`).join("\n");
  const bubble = () => screen.getByRole("article", { name: "You" });

  test("that is long stands there with its beginning, and all of it on request", () => {
    render(<Log view={asked(pasted)} {...props} />);
    expect(bubble().textContent).toContain("line 9…");
    expect(bubble().textContent).not.toContain("line 10");
    const more = screen.getByRole("button", { name: "Show more" });
    expect(more.getAttribute("aria-expanded")).toBe("false");
    fireEvent.click(more);
    expect(bubble().textContent).toContain("line 39");
    fireEvent.click(screen.getByRole("button", { name: "Show less" }));
    expect(bubble().textContent).not.toContain("line 39");
  });

  test("of a few lines stands whole, and so does one that was found by its words", () => {
    const { unmount } = render(<Log view={asked("one\ntwo")} {...props} />);
    expect(screen.queryByRole("button", { name: "Show more" })).toBeNull();
    unmount();
    render(<Log view={asked(pasted)} {...props} place={{ turnId: "trn_1", words: ["39"] }} />);
    expect(bubble().textContent).toContain("line 39");
  });

  test("of one long line ends between two words", () => {
    expect(openingOf("word ".repeat(400))).toMatch(/^(word )+word$/);
    expect(openingOf("x".repeat(1_300))).toHaveLength(800);
    expect(openingOf("x".repeat(1_200))).toBeNull();
  });

  test("is put in other words from its end on, sent by Enter, and Escape gives the keyboard back", () => {
    const onAskAgain = vi.fn();
    render(<Log view={asked("tell me a story")} {...props} busy={false} onAskAgain={onAskAgain} />);
    fireEvent.click(screen.getByRole("button", { name: "Edit" }));
    const field = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "In other words" });
    expect(document.activeElement).toBe(field());
    expect(field().selectionStart).toBe("tell me a story".length);
    fireEvent.keyDown(field(), { key: "Escape" });
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Edit" }));
    fireEvent.click(screen.getByRole("button", { name: "Edit" }));
    fireEvent.change(field(), { target: { value: "tell me a joke" } });
    fireEvent.keyDown(field(), { key: "Enter", shiftKey: true });
    expect(onAskAgain).not.toHaveBeenCalled();
    fireEvent.keyDown(field(), { key: "Enter" });
    expect(onAskAgain).toHaveBeenCalledWith("trn_1", "tell me a joke");
  });

  test("that only brings a file is not asked again: a model would be told the name of a file", () => {
    const result = { outcome: "ok", content: "a,b", trust: "untrusted", truncated: false } as const;
    const call = { id: "call_1", name: "read_attachment", arguments: { name: "costs.csv" } };
    const view = [
      { type: "turn:begun", turnId: "trn_1", text: "Attached costs.csv", tools: [] } as const,
      { type: "call:proposed", call } as const,
      { type: "call:closed", callId: "call_1", result } as const,
      { type: "turn:ended", ending: "answered", label: "words" } as const,
    ].reduce(advance, emptyConversation);
    render(<Log view={view} {...props} busy={false} />);
    expect(screen.queryByRole("button", { name: "Edit" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Try again in a branch" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Call again" })).toBeNull();
  });

  test.each(['/call read_file {"path":"a.md"}', "I changed what read_file is called with."])(
    "that is a call of the person's own (%s) is made again, and is no question to be put better",
    (text) => {
      const call = { id: "call_1", name: "read_file", arguments: { path: "a.md" } };
      const view = [
        { type: "turn:begun", turnId: "trn_1", text, tools: [] } as const,
        { type: "call:proposed", call } as const,
        {
          type: "call:closed",
          callId: "call_1",
          result: { outcome: "ok", content: "a", trust: "untrusted", truncated: false },
        } as const,
        { type: "turn:ended", ending: "answered", label: "words" } as const,
      ].reduce(advance, emptyConversation);
      const onCallAgain = vi.fn();
      const { rerender } = render(<Log view={view} {...props} onCallAgain={onCallAgain} busy={false} />);
      expect(screen.queryByRole("button", { name: "Edit" })).toBeNull();
      expect(screen.queryByRole("button", { name: "Try again in a branch" })).toBeNull();
      fireEvent.click(screen.getByRole("button", { name: "Call again" }));
      expect(onCallAgain).toHaveBeenCalledWith(call);
      rerender(<Log view={view} {...props} onCallAgain={onCallAgain} busy />);
      expect(screen.queryByRole("button", { name: "Call again" })).toBeNull();
    },
  );
});

test("a call of the conversation that this one was copied from is not called done: its words say nothing about that", () => {
  const stored = [
    { id: "msg_1", turnId: "trn_1", role: "user", content: "delete it" },
    {
      id: "msg_2",
      turnId: "trn_1",
      role: "assistant",
      content: "",
      toolCalls: [{ id: "call_1", name: "note", arguments: {} }],
    },
    { id: "msg_3", turnId: "trn_1", role: "tool", toolCallId: "call_1", content: "the person said no" },
  ] as never;
  render(<Log view={restore(stored, [], null)} {...props} />);
  expect(screen.getByRole("article", { name: "note: Before the copy" })).toBeTruthy();
});

test("a call that the person turned down is one line, without what the model was told of it", () => {
  const result = {
    outcome: "deniedByUser",
    content: "the person said no",
    trust: "trusted",
    truncated: false,
  } as const;
  const view = after(
    { type: "call:proposed", call: { id: "call_1", name: "note", arguments: { what: "beans", times: 2 } } },
    { type: "call:closed", callId: "call_1", result },
  );
  render(<Log view={view} {...props} />);
  const card = screen.getByRole("article", { name: "note: Denied" });
  expect(card.dataset.line).toBe("true");
  expect(card.textContent).toContain("times: 2");
  expect(within(card).queryByText("Result")).toBeNull();
  // The line says everything about the arguments.
  expect(within(card).queryByText("Arguments")).toBeNull();
});

test("a call that is over is one line that opens; the result of the person's own call is open", () => {
  const looked = (words: string): Conversation =>
    [
      { type: "turn:begun", turnId: "trn_1", text: words, tools: [] } as const,
      { type: "call:proposed", call: { id: "call_1", name: "look", arguments: {} } } as const,
      {
        type: "call:closed",
        callId: "call_1",
        result: { outcome: "ok", content: "seen", trust: "trusted", truncated: false },
      } as const,
    ].reduce(advance, emptyConversation);
  const opened = () => {
    const line = within(screen.getByRole("article", { name: "look: Done" }))
      .getByText("look")
      .closest("details");
    return line?.open;
  };
  render(<Log view={looked("what is there?")} {...props} />);
  expect(opened()).toBe(false);
  cleanup();
  render(<Log view={looked("/call look {}")} {...props} />);
  expect(opened()).toBe(true);
});

test("arguments that do not fit in the line are behind it", () => {
  const view = after(
    { type: "call:proposed", call: { id: "call_1", name: "note", arguments: { what: "b".repeat(60) } } },
    {
      type: "call:closed",
      callId: "call_1",
      result: { outcome: "ok", content: "", trust: "trusted", truncated: false },
    },
  );
  render(<Log view={view} {...props} />);
  expect(screen.getByText("Arguments")).toBeTruthy();
});
