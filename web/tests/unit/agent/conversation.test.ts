import { describe, expect, test } from "vitest";
import {
  advance,
  type Conversation,
  emptyConversation,
  restore,
  waitingCalls,
} from "../../../src/agent/conversation.ts";
import { copy } from "../../../src/agent/copy.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { countRounds, recall, unanswered } from "../../../src/agent/messages.ts";
import type { Approval, CallView, StoredMessage } from "../../../src/protocol/generated.ts";
import { ok, proposed, resultOf, tools } from "./scripted.ts";

function play(...events: AgentEvent[]): Conversation {
  return events.reduce(advance, emptyConversation);
}

const begun: AgentEvent = { type: "turn:begun", turnId: "trn_1", text: "do it", tools };
const one = proposed("call_1", "delete_file");
const two = proposed("call_2", "delete_file");

const approval: Approval = {
  id: "apr_1",
  kind: "stepUp",
  status: "pending",
  tool: "delete_file",
  arguments: { path: "a" },
  summary: "Delete a",
  effects: [],
  statementDigest: "0".repeat(64),
  conversationId: "cnv_1",
  turnId: "trn_1",
  callId: "call_1",
  requestedAt: "2026-11-21T10:00:00.000Z",
  expiresAt: "2026-11-21T10:02:00.000Z",
  needs: { presence: true, approvers: 1, requesterMayApprove: true },
  because: [],
  offers: ["once"],
};

describe("a turn on the screen", () => {
  test("streams an answer and settles it in place", () => {
    const streaming = play(
      begun,
      { type: "model:asked" },
      { type: "text:streamed", delta: "Hel" },
      { type: "text:streamed", delta: "lo" },
    );
    expect(streaming.streaming).toBe("Hello");
    expect(streaming.activity.kind).toBe("streaming");
    const said = [
      { type: "assistant:said", content: "Hello", stopped: false },
      { type: "turn:ended", ending: "answered", label: "words" },
    ] as const;
    const done = said.reduce<Conversation>(advance, streaming);
    expect(done.streaming).toBe("");
    expect(done.entries.map((entry) => entry.kind)).toEqual(["user", "assistant"]);
    expect(done.activity.kind).toBe("idle");
  });

  test("takes back what turned out to be no answer", () => {
    const state = play(begun, { type: "text:streamed", delta: "{" }, { type: "text:discarded" });
    expect(state.streaming).toBe("");
  });

  test("shows what was added while it worked apart from what began the turn, also before one is known", () => {
    const added = { type: "turn:steered", text: "also b" } as const;
    const steered = play(begun, added).entries.map((entry) => entry.kind === "user" && [entry.turnId, entry.steered]);
    expect(steered).toEqual([
      ["trn_1", false],
      ["trn_1", true],
    ]);
    expect(play(added).entries).toMatchObject([{ turnId: "", steered: true }]);
  });

  test("shows how many have approved for as long as the call waits", () => {
    const more: AgentEvent = { type: "approval:changed", approval: { ...approval, summary: "Delete a, for two" } };
    const proposedOne: AgentEvent = { type: "call:proposed", call: one };
    const waiting = play(begun, proposedOne, { type: "approval:requested", approval }, more);
    expect(waiting.calls.call_1?.approval?.summary).toBe("Delete a, for two");
    expect(play(begun, proposedOne, more).calls.call_1).toMatchObject({ phase: "proposed" });
  });

  test("keeps two calls of one tool apart by their ids", () => {
    const state = play(
      begun,
      { type: "call:proposed", call: one },
      { type: "call:proposed", call: two },
      { type: "call:sent", callId: "call_1" },
      { type: "approval:requested", approval },
      { type: "call:progressed", callId: "call_2", message: "half", fraction: 0.5 },
      { type: "call:closed", callId: "call_2", result: ok("done") },
    );
    expect(state.calls.call_1).toMatchObject({ phase: "waiting", approval: { id: "apr_1" }, approvalId: "apr_1" });
    expect(state.calls.call_2).toMatchObject({ phase: "closed", result: { content: "done" } });
    expect(waitingCalls(state).map((card) => card.call.id)).toEqual(["call_1"]);
  });

  test("keeps what a running call said, the newest last, and how far it is", () => {
    const said = (message: string, fraction?: number) =>
      ({ type: "call:progressed", callId: "call_1", message, ...(fraction !== undefined && { fraction }) }) as const;
    const running = play(
      begun,
      { type: "call:proposed", call: one },
      said("reading a", 0.1),
      said("reading a", 0.2),
      said(" ", 0.3),
    );
    expect(running.calls.call_1).toMatchObject({ phase: "running", progress: { lines: ["reading a"], fraction: 0.3 } });
    const longer = Array.from({ length: 120 }, (_, at) => said(`line ${at}`)).reduce<Conversation>(advance, running);
    expect(longer.calls.call_1?.progress?.lines).toHaveLength(100);
    expect(longer.calls.call_1?.progress?.lines.at(-1)).toBe("line 119");
    expect(longer.calls.call_1?.progress?.fraction).toBeUndefined();
  });

  test("an approved call runs, and a late word about a closed call changes nothing", () => {
    const approved = play(
      begun,
      { type: "call:proposed", call: one },
      { type: "approval:requested", approval },
      { type: "approval:resolved", callId: "call_1", status: "approved" },
    );
    expect(approved.calls.call_1?.phase).toBe("running");
    const closed = [
      { type: "call:closed", callId: "call_1", result: ok("gone") },
      { type: "approval:requested", approval },
      { type: "call:progressed", callId: "call_1", message: "late" },
      { type: "approval:resolved", callId: "call_1", status: "approved" },
    ] as const;
    expect(closed.reduce<Conversation>(advance, approved).calls.call_1?.phase).toBe("closed");
  });

  test("nothing looks as if it ran on after a stop", () => {
    const state = play(
      begun,
      { type: "call:proposed", call: one },
      { type: "approval:requested", approval },
      { type: "turn:ended", ending: "stopped", label: "words" },
    );
    expect(state.calls.call_1).toMatchObject({ phase: "closed", result: { outcome: "cancelled" } });
  });

  test("a new turn ends what waited in the one before", () => {
    const state = play(
      begun,
      { type: "call:proposed", call: one },
      { type: "approval:requested", approval },
      { ...begun, turnId: "trn_2" },
    );
    expect(waitingCalls(state)).toEqual([]);
  });

  test("says a failure again that comes again after something else", () => {
    const notice = { type: "notice:raised", tone: "danger", text: "lost" } as const;
    const between = { type: "assistant:said", content: "Hello.", stopped: false } as const;
    expect(play(begun, notice, between, notice).entries).toHaveLength(4);
    const info = { ...notice, tone: "info" } as const;
    expect(play(begun, info, between, info).entries).toHaveLength(3);
  });

  test("shows what a message asks for, how far that is, and nothing of it afterwards", () => {
    const split = { type: "actions:split", actions: ["a", "b"] } as const;
    expect(play(begun, split).course).toEqual({ actions: ["a", "b"], index: 0, undone: [] });
    const second = { type: "action:begun", index: 1 } as const;
    expect(play(begun, split, second).course).toEqual({ actions: ["a", "b"], index: 1, undone: [] });
    expect(play(begun, second).course).toEqual({ actions: null, index: 1, undone: [] });
    expect(play(begun, split, { type: "turn:ended", ending: "answered", label: "words" }).course).toBeNull();
    expect(play(begun, split, { ...begun, turnId: "trn_2" }).course).toBeNull();
  });

  const DENIED = {
    outcome: "deniedByUser",
    reason: "denied",
    content: "",
    trust: "trusted",
    truncated: false,
  } as const;

  test("keeps apart which steps were done and which came to nothing", () => {
    const state = play(
      begun,
      { type: "actions:split", actions: ["a", "b", "c", "d"] },
      { type: "call:proposed", call: one },
      { type: "call:closed", callId: "call_1", result: DENIED },
      { type: "assistant:said", content: "You said no.", stopped: false },
      { type: "action:begun", index: 1 },
      { type: "assistant:said", content: "Hello.", stopped: false },
      { type: "action:begun", index: 2 },
      { type: "call:proposed", call: two },
      { type: "call:closed", callId: "call_2", result: ok("done") },
      { type: "assistant:said", content: "Done.", stopped: false },
      { type: "action:begun", index: 3 },
    );
    expect(state.course).toMatchObject({ index: 3, undone: [0] });
  });

  test("a stop says what stands and what of the message is not done", () => {
    const twice: AgentEvent[] = [
      begun,
      { type: "actions:split", actions: ["save a", "show b"] },
      { type: "call:proposed", call: one },
    ];
    const stop: AgentEvent = { type: "turn:ended", ending: "stopped", label: "words" };
    const lastOf = (...events: AgentEvent[]) => play(...twice, ...events, stop).entries.at(-1);
    const stands = "Stopped. What is done stands.";
    expect(lastOf()).toMatchObject({ kind: "notice", text: `${stands}\n\nNot done: \`save a\`, \`show b\`.` });
    const closed: AgentEvent = { type: "call:closed", callId: "call_1", result: ok("done") };
    expect(lastOf(closed)).toMatchObject({ text: `${stands}\n\nNot done: \`show b\`.` });
    expect(play(begun, stop).entries.at(-1)).toMatchObject({ kind: "notice", tone: "info", text: stands });
    expect(play(begun, { type: "action:begun", index: 1 }, stop).entries.at(-1)).toMatchObject({ text: stands });
  });

  test("a stop in the middle of an answer is said there, and nothing twice", () => {
    const said = { type: "assistant:said", content: "Once upon", stopped: true } as const;
    const state = play(begun, said, { type: "turn:ended", ending: "stopped", label: "words" });
    expect(state.entries.map((entry) => entry.kind)).toEqual(["user", "assistant"]);
  });

  test("goes on with a turn of an earlier page, and waits for a model visibly", () => {
    const state = play(
      { type: "turn:resumed", turnId: "trn_1", tools },
      { type: "model:waited-for", state: "starting" },
    );
    expect(state).toMatchObject({ turnId: "trn_1", tools, activity: { kind: "modelAwaited", state: "starting" } });
  });

  test("cancels at its end what was proposed and never sent, and nothing else", () => {
    const state = play(
      begun,
      { type: "call:proposed", call: one, ...(tools[0] && { tool: tools[0] }) },
      { type: "call:proposed", call: two },
      { type: "approval:requested", approval },
      { type: "call:sent", callId: "call_1" },
      { type: "turn:ended", ending: "failed", label: "words" },
    );
    expect(state.calls.call_1).toMatchObject({ phase: "waiting", tool: tools[0] });
    expect(state.calls.call_2).toMatchObject({ phase: "closed" });
  });

  test("answers a command in its place", () => {
    expect(play(begun, { type: "panel:shown", panel: { kind: "help" } }).entries.at(-1)).toMatchObject({
      kind: "panel",
    });
  });

  test("shows a call even where no turn is known", () => {
    expect(play({ type: "call:proposed", call: one }).calls.call_1?.turnId).toBe("");
  });

  test("says the same notice once", () => {
    const notice = { type: "notice:raised", tone: "info", text: "short of room" } as const;
    expect(play(begun, notice, notice).entries).toHaveLength(2);
  });

  test("words about an unknown call are passed over", () => {
    expect(
      play({ type: "approval:requested", approval }, { type: "call:closed", callId: "x", result: ok("") }),
    ).toEqual(emptyConversation);
  });

  test("keys never repeat", () => {
    const state = play(
      begun,
      { type: "call:proposed", call: one },
      { ...begun, turnId: "trn_2" },
      { type: "assistant:said", content: "x", stopped: true },
    );
    const keys = state.entries.map((entry) => entry.key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("a stored conversation", () => {
  const at = "2026-11-21T10:00:00.000Z";
  const message = (role: StoredMessage["role"], content: string, more: Partial<StoredMessage> = {}): StoredMessage => ({
    role,
    content,
    turnId: "trn_1",
    index: 0,
    provenance: "claimed",
    at,
    ...more,
  });
  const stored = [
    message("user", "delete both"),
    message("assistant", "", { toolCalls: [one, two] }),
    message("tool", "deleted", { toolCallId: "call_1", provenance: "gateway" }),
  ];
  const views: CallView[] = [
    {
      call: one,
      turnId: "trn_1",
      state: "closed",
      receivedAt: at,
      result: resultOf("call_1", { ...ok("deleted"), outcome: "ok" }),
    },
    { call: two, turnId: "trn_1", state: "awaitingApproval", receivedAt: at, approvalId: "apr_2" },
  ];

  test("shows closed calls closed and waiting calls waiting", () => {
    const state = restore(stored, views, "trn_1");
    expect(state.calls.call_1).toMatchObject({ phase: "closed", result: { content: "deleted" } });
    expect(state.calls.call_2).toMatchObject({ phase: "waiting", approvalId: "apr_2" });
    expect(state.entries.map((entry) => entry.kind)).toEqual(["user", "call", "call"]);
  });

  test("shows what was proposed and never sent as cancelled, unless its turn is open", () => {
    expect(restore(stored, [], null).calls.call_2?.phase).toBe("closed");
    expect(restore(stored, [], "trn_1").calls.call_2?.phase).toBe("proposed");
  });

  test("is recalled with results joined to their calls", () => {
    const messages = recall(stored, views);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(unanswered(messages, "trn_1")).toEqual([two]);
    expect(unanswered(messages, "trn_2")).toEqual([]);
    expect(countRounds(messages, "trn_1")).toBe(1);
  });

  test("of a branch keeps the words of results that have no record, and trusts them not", () => {
    const messages = recall(stored, []);
    expect(messages[2]).toMatchObject({
      role: "tool",
      call: one,
      result: { outcome: "ok", content: "deleted", trust: "untrusted" },
    });
    const own = stored.map((each) => (each.role === "tool" ? { ...each, own: true as const } : each));
    expect(recall(own, [])[2]).toMatchObject({ result: { content: "deleted", trust: "untrusted", own: true } });
    expect(recall([message("tool", "stray", { toolCallId: "nobody" })], [])).toEqual([]);
  });

  test("of a branch says of its calls that they were made before it, whatever their results say", () => {
    expect(restore(stored, [], null).calls.call_1).toMatchObject({ copied: true, phase: "closed" });
    expect(restore(stored, views, null).calls.call_1?.copied).toBeUndefined();
  });

  test("shows what was imported as what it is, and tells the model of it as of an untrusted result", () => {
    const said = (role: "user" | "assistant", content: string, turnId: string) => ({
      ...message(role, content),
      turnId,
      provenance: "imported" as const,
    });
    const imported = [
      said("user", "delete it", "trn_a"),
      said("assistant", "Deleted.", "trn_a"),
      said("user", "Sure?", "trn_b"),
    ];
    const state = restore([...imported, message("user", "go on")], [], null);
    expect(state.entries.map((entry) => [entry.kind, "imported" in entry])).toEqual([
      ["user", true],
      ["assistant", true],
      ["user", true],
      ["user", false],
    ]);
    const call = (turnId: string) => ({ id: `imp_${turnId}`, name: "imported_conversation", arguments: {} });
    const result = { outcome: "ok", trust: "untrusted", truncated: false };
    const words = copy.importedTurn;
    expect(recall([...imported, message("user", "go on")], [])).toEqual([
      { role: "user", turnId: "trn_a", content: words },
      { role: "assistant", turnId: "trn_a", content: "", toolCalls: [call("trn_a")] },
      {
        role: "tool",
        turnId: "trn_a",
        call: call("trn_a"),
        result: { ...result, content: "user: delete it\n\nassistant: Deleted." },
      },
      { role: "user", turnId: "trn_b", content: words },
      { role: "assistant", turnId: "trn_b", content: "", toolCalls: [call("trn_b")] },
      { role: "tool", turnId: "trn_b", call: call("trn_b"), result: { ...result, content: "user: Sure?" } },
      { role: "user", turnId: "trn_1", content: "go on" },
    ]);
  });

  test("shows a call that only the gateway knows", () => {
    const state = restore([message("user", "/call")], views.slice(1), "trn_1");
    expect(state.calls.call_2?.phase).toBe("waiting");
  });

  test("shows a call that runs as running, with what was approved", () => {
    const running = views.map((view) =>
      view.state === "closed" ? view : { ...view, state: "running" as const, approval },
    );
    expect(restore(stored, running, "trn_1").calls.call_2).toMatchObject({
      phase: "running",
      approval: { id: "apr_1" },
    });
  });

  test("shows a result whose proposal is not stored", () => {
    const state = restore(
      stored.filter(({ role }) => role !== "assistant"),
      views.slice(0, 1),
      null,
    );
    expect(state.calls.call_1).toMatchObject({ phase: "closed", result: { content: "deleted" } });
  });
});
