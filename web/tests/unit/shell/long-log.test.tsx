// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { advance, type Conversation, emptyConversation } from "../../../src/agent/conversation.ts";
import { Log, type LogProps } from "../../../src/features/shell/log/Log.tsx";
import { NoResizes } from "./scripted-client.ts";

/** What the page is to do when it has nothing better to do. */
let idle: (() => void)[];

beforeEach(() => {
  vi.stubGlobal("ResizeObserver", NoResizes);
  idle = [];
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const props: Omit<LogProps, "view"> = {
  label: "A long conversation",
  sendKey: "enter",
  busy: false,
  figures: new Map(),
  onCancelCall: () => undefined,
  onAskAgain: () => undefined,
  branchesAt: () => null,
  onOpenBranch: () => undefined,
  onCompare: () => undefined,
  onCallAgain: () => undefined,
  onSend: () => undefined,
  whenIdle: (work) => idle.push(work),
};

/** Questions with an answer to each. */
function conversationOf(turns: number): Conversation {
  return Array.from({ length: turns }, (_, at) => at).reduce<Conversation>(
    (state, at) =>
      [
        { type: "turn:begun", turnId: `trn_${at}`, text: `question ${at}`, tools: [] } as const,
        { type: "assistant:said", content: `answer ${at}`, stopped: false } as const,
        { type: "turn:ended", ending: "answered", label: "words" } as const,
      ].reduce(advance, state),
    emptyConversation,
  );
}

const LONG = conversationOf(100);

function drawn(): string[] {
  return screen.getAllByRole("article").map((each) => each.textContent ?? "");
}

/** All that is said in turns, in their order. */
function said(from: number, turns: number): string[] {
  return Array.from({ length: turns - from }, (_, at) => [`question ${from + at}`, `answer ${from + at}`]).flat();
}

function passTime() {
  act(() => {
    for (const work of idle.splice(0)) work();
  });
}

test("of a long conversation the end is drawn first, and all of it in its order while nothing else is to be done", () => {
  render(<Log view={LONG} {...props} />);
  expect(drawn()).toEqual(said(80, 100));
  passTime();
  expect(drawn()).toEqual(said(60, 100));
  for (let rounds = 0; rounds < 3; rounds++) passTime();
  expect(drawn()).toEqual(said(0, 100));
  expect(idle).toEqual([]);
});

test("what a turn adds is drawn as it comes, and nothing of a short conversation is left for later", () => {
  const { rerender } = render(<Log view={LONG} {...props} />);
  const more = advance(LONG, { type: "assistant:said", content: "And more.", stopped: false });
  rerender(<Log view={more} {...props} />);
  expect(drawn()).toEqual([...said(80, 100), "And more."]);
  cleanup();
  idle = [];
  render(<Log view={conversationOf(20)} {...props} />);
  expect(drawn()).toEqual(said(0, 20));
  expect(idle).toEqual([]);
});

test("a message that was looked for is drawn at once, with what stands before it", () => {
  render(<Log view={LONG} {...props} place={{ turnId: "trn_50", words: ["answer"] }} />);
  expect(document.activeElement?.textContent).toBe("answer 50");
  expect(drawn()[0]).toBe("answer 30");
});

test.each([
  ["the way to the beginning", () => fireEvent.keyDown(screen.getByRole("log"), { key: "Home" })],
  ["the browser's search", () => fireEvent.keyDown(window, { key: "f", ctrlKey: true })],
  ["the browser's search on a Mac", () => fireEvent.keyDown(window, { key: "f", metaKey: true })],
  ["paper", () => fireEvent(window, new Event("beforeprint"))],
])("%s has all of it before anything else happens", (_, want) => {
  render(<Log view={LONG} {...props} />);
  want();
  expect(drawn()).toEqual(said(0, 100));
});

test("an f that is typed draws nothing", () => {
  render(<Log view={LONG} {...props} />);
  fireEvent.keyDown(window, { key: "f" });
  fireEvent.keyDown(screen.getByRole("log"), { key: "PageUp" });
  expect(drawn()).toEqual(said(80, 100));
});

test("a reader who comes near the oldest that is drawn gets more of it, and keeps the place", () => {
  render(<Log view={LONG} {...props} />);
  const log = screen.getByRole("log");
  Object.defineProperties(log, { scrollHeight: { get: () => 4_000 }, clientHeight: { get: () => 500 } });
  // Every article is 100 pixels high.
  vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockImplementation(function place(this: HTMLElement) {
    return { top: screen.getAllByRole("article").indexOf(this) * 100 } as DOMRect;
  });
  log.scrollTop = 1_000;
  fireEvent.scroll(log);
  expect(drawn()).toEqual(said(80, 100));
  log.scrollTop = 200;
  fireEvent.scroll(log);
  expect(drawn()).toEqual(said(60, 100));
  expect(log.scrollTop).toBe(4_200);
});

test("a message that was looked for far above is drawn with what stands around it, then what follows, then what is before", () => {
  const { rerender } = render(<Log view={LONG} {...props} />);
  idle = [];
  const place = { turnId: "trn_30", words: ["question"] };
  rerender(<Log view={LONG} {...props} place={place} />);
  expect(drawn()).toEqual(said(10, 50));
  for (let rounds = 0; rounds < 3; rounds++) passTime();
  expect(drawn()).toEqual(said(10, 100));
  passTime();
  expect(drawn()).toEqual(said(0, 100));
  expect(idle).toEqual([]);
});

test("from there the way to the latest message leads to the end at once, and so does a question", () => {
  const place = { turnId: "trn_10", words: ["question"] };
  const { rerender } = render(<Log view={LONG} {...props} />);
  rerender(<Log view={LONG} {...props} place={place} />);
  expect(drawn()).toEqual(said(0, 30));
  fireEvent.keyDown(screen.getByRole("log"), { key: "End" });
  expect(drawn()).toEqual(said(80, 100));
  rerender(<Log view={LONG} {...props} place={{ turnId: "trn_11", words: ["answer"] }} />);
  expect(drawn()).toContain("question 11");
  const asked = advance(LONG, { type: "turn:begun", turnId: "trn_100", text: "and now?", tools: [] });
  rerender(<Log view={asked} {...props} place={{ turnId: "trn_11", words: ["answer"] }} />);
  expect(drawn().at(-1)).toBe("and now?");
  expect(drawn()).not.toContain("question 11");
});
