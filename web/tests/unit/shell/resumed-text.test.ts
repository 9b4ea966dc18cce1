import { expect, test } from "vitest";
import { advance, type Conversation, emptyConversation } from "../../../src/agent/conversation.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { ResumedText } from "../../../src/features/shell/resumed-text.ts";

const text = (delta: string): AgentEvent => ({ type: "text:streamed", delta });

/** What the screen shows after each of these events, where `shown` was there before the page was loaded again. */
function screens(shown: string, events: readonly AgentEvent[]): string[] {
  const resumed = new ResumedText();
  let state: Conversation = emptyConversation;
  for (const event of resumed.begin(shown)) state = advance(state, event);
  return events.map((happened) => {
    for (const event of resumed.translate(happened)) state = advance(state, event);
    return [...state.entries.flatMap((each) => (each.kind === "assistant" ? [`(${each.text})`] : [])), state.streaming]
      .filter(Boolean)
      .join(" ");
  });
}

test("what was shown stays until the same answer has come as far, and then grows", () => {
  expect(screens("Once upon", [text("Once"), text(" upon"), text(" a time")])).toEqual([
    "Once upon",
    "Once upon",
    "Once upon a time",
  ]);
});

test("another answer takes its place with the first letter that differs", () => {
  expect(screens("Once upon", [text("On"), text("e day")])).toEqual(["Once upon", "One day"]);
});

test("an answer that is asked for a third time begins anew behind what is shown", () => {
  expect(screens("Once upon", [text("Once"), { type: "text:discarded" }, text("Once upon a")])).toEqual([
    "Once upon",
    "Once upon",
    "Once upon a",
  ]);
});

test("a stop keeps what was read, and so does a failure", () => {
  const said: AgentEvent = { type: "assistant:said", content: "Once", stopped: true };
  const ended: AgentEvent = { type: "turn:ended", ending: "failed", label: "words" };
  expect(screens("Once upon", [text("Once"), said]).at(-1)).toBe("(Once upon)");
  expect(screens("Once upon", [ended]).at(-1)).toBe("(Once upon)");
});

test("a whole answer stands as it was said", () => {
  const said: AgentEvent = { type: "assistant:said", content: "One day.", stopped: false };
  expect(screens("Once upon", [said, text("more")])).toEqual(["(One day.)", "(One day.) more"]);
});

test("a call in the place of words takes them away", () => {
  const proposed: AgentEvent = { type: "call:proposed", call: { id: "call_1", name: "look", arguments: {} } };
  expect(screens("Once upon", [proposed, text("Done")])).toEqual(["", "Done"]);
});
