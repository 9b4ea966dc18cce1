import { describe, expect, test } from "vitest";
import { emptyConversation } from "../../../src/agent/conversation.ts";
import { PartialAnswer } from "../../../src/features/shell/partial-answer.ts";
import { Workspace } from "../../../src/features/shell/workspace.ts";
import type { StoredMessage, ToolRequest } from "../../../src/protocol/generated.ts";
import { ok, resultOf, smallModel, snapshotOf } from "../agent/scripted.ts";
import { until } from "./open-workspace.ts";
import { conversationOf, pageOf, ScriptedClient } from "./scripted-client.ts";

const call = { id: "call_1", name: "delete_file", arguments: { path: "a.txt" } };
const turn = { turnId: "trn_1", turnIndex: 0 };
const asked: StoredMessage = {
  role: "user",
  content: "delete a.txt",
  turnId: "trn_1",
  provenance: "claimed",
  at: "2026-11-21T10:00:00.000Z",
};

describe("a turn that another tab takes over", () => {
  test("is offered back, and what became of it is shown once it is over there", async () => {
    let isOver = false;
    let isTaken = false;
    let look: () => void = () => undefined;
    const view = () => ({
      call,
      turnId: "trn_1",
      state: isOver ? "closed" : "running",
      receivedAt: asked.at,
      ...(isOver && { result: resultOf("call_1", ok("deleted")) }),
    });
    const client = new ScriptedClient({
      "conversations/list": () => ({
        conversations: [{ ...conversationOf("cnv_1"), ...(!isOver && { openTurnId: "trn_1" }) }],
      }),
      "conversations/open": () => ({
        conversation: conversationOf("cnv_1"),
        messages: [asked, { ...asked, role: "assistant", content: "", toolCalls: [call] }],
        ...(!isOver && { openTurn: { ...turn, ...(!isTaken && { snapshot: snapshotOf("trn_1") }) } }),
      }),
      "tools/list-calls": () => ({ calls: [view()] }),
      "tools/invoke": (_request: ToolRequest, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const page = pageOf(client);
    const workspace = new Workspace({
      ...page.environment,
      wait: () =>
        new Promise((resolve) => {
          look = resolve;
        }),
    });
    page.environment.address.write("cnv_1");
    await workspace.start();
    await until(workspace, ({ busy, log }) => busy && log.turnId !== null);

    isTaken = true;
    client.notify("snapshot/revoked", { snapshotId: "snp_1", reason: "rebound" });
    const handed = await until(workspace, ({ unfinishedTurn }) => unfinishedTurn?.elsewhere === true);
    expect(handed.busy).toBe(false);
    expect(handed.log.entries.filter(({ kind }) => kind === "notice")).toEqual([]);
    expect(handed.log.calls.call_1?.phase).toBe("running");

    // Left to the other tab, it is followed all the same.
    await workspace.discardTurn();
    look();
    await new Promise((resolve) => setTimeout(resolve));
    isOver = true;
    look();
    const settled = await until(workspace, ({ log }) => log.calls.call_1?.phase === "closed");
    expect(settled).toMatchObject({ busy: false, unfinishedTurn: null });
  });
});

describe("a turn that this tab takes over", () => {
  const held = ({ takeOver }: { takeOver?: boolean }) => ({
    ...turn,
    ...(takeOver && { snapshot: snapshotOf("trn_1") }),
  });

  test("what the other tab has said so far has not stopped, and goes on here as one answer", async () => {
    const client = new ScriptedClient({
      "conversations/open": (params: { takeOver?: boolean }) => ({
        conversation: conversationOf("cnv_1"),
        messages: [asked],
        openTurn: { ...held(params), modelId: smallModel.id },
      }),
    });
    const page = pageOf(client, ['{"answer":"Which one?"}']);
    page.environment.address.write("cnv_1");
    page.environment.kept.write("partial:cnv_1", JSON.stringify({ turnId: "trn_1", text: "Which" }));
    const workspace = new Workspace(page.environment);
    await workspace.start();
    expect(workspace.getState().log.entries.at(-1)).toMatchObject({ text: "Which", stopped: false });
    await workspace.continueTurn();
    const said = workspace.getState().log.entries.filter(({ kind }) => kind === "assistant");
    expect(said).toMatchObject([{ text: "Which one?" }]);
  });

  test("it goes on from what the other tab did meanwhile", async () => {
    let isDone = false;
    const result: StoredMessage = { ...asked, role: "tool", content: "deleted", toolCallId: "call_1" };
    const client = new ScriptedClient({
      "conversations/open": (params: { takeOver?: boolean }) => ({
        conversation: conversationOf("cnv_1"),
        messages: isDone ? [asked, { ...asked, role: "assistant", content: "", toolCalls: [call] }, result] : [asked],
        openTurn: held(params),
      }),
      "tools/list-calls": () => ({
        calls: isDone
          ? [
              {
                call,
                turnId: "trn_1",
                state: "closed",
                receivedAt: asked.at,
                result: resultOf("call_1", ok("deleted")),
              },
            ]
          : [],
      }),
    });
    const page = pageOf(client);
    page.environment.address.write("cnv_1");
    const workspace = new Workspace(page.environment);
    await workspace.start();
    isDone = true;
    await workspace.continueTurn();
    expect(workspace.getState().log.calls.call_1).toMatchObject({ phase: "closed" });
    expect(client.paramsOf("tools/invoke")).toEqual([]);
  });
});

describe("an answer that is not complete", () => {
  const texts = new Map<string, string>();
  const kept = {
    read: (name: string) => texts.get(name) ?? "",
    write: (name: string, text: string) => void texts.set(name, text),
  };
  const streaming = (text: string) => ({ ...emptyConversation, turnId: "trn_1", streaming: text });

  test("is there after a reload, until it is complete", async () => {
    let pass: () => void = () => undefined;
    const wait = () =>
      new Promise<void>((resolve) => {
        pass = resolve;
      });
    const partial = new PartialAnswer("cnv_1", { kept, wait });
    partial.follow({ type: "text:streamed", delta: "Once" }, streaming("Once"));
    partial.follow({ type: "text:streamed", delta: " upon" }, streaming("Once upon"));
    expect(partial.of(asked)).toBeNull();
    pass();
    await Promise.resolve();
    expect(new PartialAnswer("cnv_1", { kept, wait }).of(asked)).toBe("Once upon");
    // It is the answer to that message and to no other.
    expect(partial.of({ ...asked, turnId: "trn_2" })).toBeNull();
    expect(partial.of({ ...asked, role: "assistant" })).toBeNull();
    expect(partial.of(undefined)).toBeNull();
    partial.follow({ type: "text:streamed", delta: " a" }, streaming("Once upon a"));
    partial.follow({ type: "assistant:said", content: "Once upon a time", stopped: false }, streaming(""));
    pass();
    await Promise.resolve();
    expect(partial.of(asked)).toBeNull();
    texts.set("partial:cnv_1", "[]");
    expect(partial.of(asked)).toBeNull();
  });

  test("stays where its turn failed, and goes where the person stopped it", () => {
    const partial = new PartialAnswer("cnv_1", { kept, wait: () => new Promise(() => undefined) });
    const brokenOff = { type: "assistant:said", content: "Once upon", stopped: true } as const;
    partial.follow(brokenOff, streaming(""));
    partial.follow({ type: "turn:ended", ending: "failed", label: "words" }, streaming(""));
    expect(partial.of(asked)).toBe("Once upon");
    partial.follow(brokenOff, streaming(""));
    partial.follow({ type: "turn:ended", ending: "stopped", label: "words" }, streaming(""));
    expect(partial.of(asked)).toBeNull();
  });
});
