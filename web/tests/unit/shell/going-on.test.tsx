// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { advance, type Conversation, emptyConversation } from "../../../src/agent/conversation.ts";
import { copy, nameTheRest } from "../../../src/agent/copy.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { goingOn } from "../../../src/features/shell/log/going-on.ts";
import { Log } from "../../../src/features/shell/log/Log.tsx";
import { shortDuration } from "../../../src/ui/durations.ts";
import { NoResizes } from "./scripted-client.ts";

beforeEach(() => vi.stubGlobal("ResizeObserver", NoResizes));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function after(...events: readonly AgentEvent[]): Conversation {
  const begun: AgentEvent = { type: "turn:begun", turnId: "trn_1", text: "do it all", tools: [] };
  const ended: AgentEvent = { type: "turn:ended", ending: "capped", label: "words" };
  return [begun, ...events, ended].reduce(advance, emptyConversation);
}

const said = (content: string): AgentEvent => ({ type: "assistant:said", content, stopped: false });

test("an answer that came to the most steps goes on with what it named as not done, or with the rest", () => {
  expect(goingOn(after(said(copy.capped)).entries)).toBe("Please go on with the rest.");
  const named = `${copy.capped}\n\n${nameTheRest(["delete a.txt", "list notes/"])}`;
  expect(goingOn(after(said(named)).entries)).toBe("delete a.txt, then list notes/");
});

test("an answer that was cut off goes on where it was, and any other one is complete", () => {
  const cut: AgentEvent = { type: "notice:raised", tone: "info", text: copy.cutShort };
  expect(goingOn(after(cut, said("Once upon")).entries)).toBe("Continue your answer where it stopped.");
  expect(goingOn(after(said("Once upon a time.")).entries)).toBeNull();
  expect(goingOn(emptyConversation.entries)).toBeNull();
});

test("an answer that was stopped goes on where it was, or with what was named as not done", () => {
  const stopped: AgentEvent = { type: "turn:ended", ending: "stopped", label: "words" };
  const halves: AgentEvent = { type: "assistant:said", content: "Once upon", stopped: true };
  const begun = (...events: readonly AgentEvent[]) =>
    [{ type: "turn:begun", turnId: "trn_1", text: "do it all", tools: [] } as const, ...events, stopped].reduce(
      advance,
      emptyConversation,
    ).entries;
  expect(goingOn(begun(halves))).toBe("Continue your answer where it stopped.");
  const split: AgentEvent = { type: "actions:split", actions: ["delete a.txt", "list notes/"] };
  expect(goingOn(begun(split))).toBe("delete a.txt, then list notes/");
  // Nothing was said and nothing was named: the question is there to be asked again.
  expect(goingOn(begun())).toBeNull();
});

test("the way on stands under the last answer, and is sent as the next message", () => {
  const sent: string[] = [];
  const props = {
    label: "A conversation",
    sendKey: "enter" as const,
    figures: new Map(),
    onCancelCall: () => undefined,
    onAskAgain: () => undefined,
    branchesAt: () => null,
    onOpenBranch: () => undefined,
    onCompare: () => undefined,
    onCallAgain: () => undefined,
    onSend: (text: string) => void sent.push(text),
    whenIdle: () => undefined,
  };
  const view = after(said(copy.capped));
  const { rerender } = render(<Log {...props} view={view} busy />);
  expect(screen.queryByRole("button", { name: "Go on" })).toBeNull();
  rerender(<Log {...props} view={view} busy={false} />);
  fireEvent.click(screen.getByRole("button", { name: "Go on" }));
  expect(sent).toEqual(["Please go on with the rest."]);
});

test("a call that is done says how long it took", () => {
  const call = { id: "call_1", name: "look", arguments: {} };
  const result = { outcome: "ok", content: "seen", trust: "trusted", truncated: false, durationMs: 1_430 } as const;
  const view = after({ type: "call:proposed", call }, { type: "call:closed", callId: "call_1", result });
  const none = () => undefined;
  const acts = { onCancelCall: none, onAskAgain: none, onOpenBranch: none, onCompare: none, onCallAgain: none };
  const rest = {
    label: "A",
    sendKey: "enter" as const,
    figures: new Map(),
    branchesAt: () => null,
    onSend: none,
    whenIdle: none,
    busy: false,
  };
  render(<Log {...acts} {...rest} view={view} />);
  expect(screen.getByRole("article", { name: "look: Done" }).textContent).toContain("1.4 s");
});

test.each([
  [0, "0 ms"],
  [12.4, "12 ms"],
  [1_000, "1 s"],
  [59_960, "60 s"],
  [125_000, "2:05"],
])("%d milliseconds are %s", (milliseconds, words) => {
  expect(shortDuration(milliseconds)).toBe(words);
});
