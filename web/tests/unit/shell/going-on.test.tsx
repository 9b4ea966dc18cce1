// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { advance, type Conversation, emptyConversation, restore } from "../../../src/agent/conversation.ts";
import { copy, nameTheRest } from "../../../src/agent/copy.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { LastEnding } from "../../../src/features/shell/last-ending.ts";
import { goingOn } from "../../../src/features/shell/log/going-on.ts";
import { Log } from "../../../src/features/shell/log/Log.tsx";
import type { KeptTexts } from "../../../src/features/shell/shell-environment.ts";
import type { StoredMessage } from "../../../src/protocol/generated.ts";
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

test("how the last turn ended outlasts a reload, and nothing of it stands by a later turn", () => {
  const ways: readonly (readonly AgentEvent[])[] = [
    [{ type: "assistant:said", content: "Once upon", stopped: true }],
    [{ type: "actions:split", actions: ["delete a.txt", "list notes/"] }],
    [{ type: "notice:raised", tone: "info", text: copy.cutShort }, said("Once upon")],
  ];
  for (const way of ways) {
    const isCut = way.length === 2;
    const kept = keptTexts();
    const ending = new LastEnding("cnv_1", kept);
    const begun: AgentEvent = { type: "turn:begun", turnId: "trn_1", text: "do it all", tools: [] };
    const ended: AgentEvent = { type: "turn:ended", ending: isCut ? "answered" : "stopped", label: "words" };
    let view = emptyConversation;
    for (const event of [begun, ...way, ended]) {
      view = advance(view, event);
      ending.follow(event, view);
    }
    const wayOn = goingOn(view.entries);
    expect(wayOn).not.toBeNull();
    const answer = way.some(({ type }) => type === "assistant:said") ? [stored("assistant", "Once upon", "trn_1")] : [];
    const messages = [stored("user", "do it all", "trn_1"), ...answer];
    const loaded = new LastEnding("cnv_1", kept).restore(restore(messages, [], null), messages.at(-1));
    expect(goingOn(loaded.entries)).toBe(wayOn);
    expect(loaded.entries.map(({ kind }) => kind)).toEqual(view.entries.map(({ kind }) => kind));
    // Somebody went on with it in another browser.
    const later = [...messages, stored("user", "and now?", "trn_2")];
    const restored = restore(later, [], null);
    expect(new LastEnding("cnv_1", kept).restore(restored, later.at(-1))).toBe(restored);
    ending.follow({ ...begun, turnId: "trn_2" }, view);
    expect(kept.read("ending:cnv_1")).toBe("");
  }
});

test.each(["", "no JSON", "[]", '{"turnId":7}'])("what a browser has kept is no ending of a turn: %j", (text) => {
  const kept = keptTexts();
  kept.write("ending:cnv_1", text);
  const messages = [stored("user", "hello", "trn_1"), stored("assistant", "Hi.", "trn_1")];
  const view = restore(messages, [], null);
  expect(new LastEnding("cnv_1", kept).restore(view, messages.at(-1))).toBe(view);
});

function keptTexts(): KeptTexts {
  const texts = new Map<string, string>();
  return { read: (name) => texts.get(name) ?? "", write: (name, text) => void texts.set(name, text) };
}

function stored(role: "user" | "assistant", content: string, turnId: string): StoredMessage {
  return { role, content, turnId, provenance: "claimed", at: "2026-11-21T10:00:00.000Z" };
}

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
