import { describe, expect, test } from "vitest";
import { waitingCalls } from "../../../src/agent/conversation.ts";
import { Workspace } from "../../../src/features/shell/workspace.ts";
import type { Approval, ToolResult } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { largeModel, ok, proposed, resultOf, snapshotOf } from "../agent/scripted.ts";
import { start, until, waitingTools } from "./open-workspace.ts";
import { conversationOf, pageOf, ScriptedClient } from "./scripted-client.ts";

const at = "2026-11-21T10:00:00.000Z";
const DELETE = '{"tool":"delete_file","arguments":{"path":"a.txt"}}';

function approvalFor(callId: string): Approval {
  return {
    id: "apr_1",
    kind: "stepUp",
    status: "pending",
    tool: "delete_file",
    arguments: { path: "a.txt" },
    summary: "Delete a.txt",
    effects: [],
    statementDigest: "0".repeat(64),
    conversationId: "cnv_new",
    turnId: "trn_1",
    callId,
    requestedAt: at,
    expiresAt: at,
    needs: { presence: true, approvers: 1, requesterMayApprove: true },
    because: [],
    offers: ["once"],
  };
}

describe("talking", () => {
  test("the first message founds a conversation named after it and the address follows", async () => {
    const client = new ScriptedClient();
    const { workspace, address } = await start(client, ['{"answer":"Hello."}']);
    expect(await workspace.submit("  good morning\nhow are you?  ")).toBe(true);
    const state = await until(workspace, ({ busy, log }) => !busy && log.entries.length === 2);
    expect(client.paramsOf("conversations/open")).toEqual([{ title: "good morning" }]);
    expect(state.currentId).toBe("cnv_new");
    expect(address()).toBe("cnv_new");
    expect(state.log.entries.at(-1)).toMatchObject({ kind: "assistant", text: "Hello." });
  });

  test("an empty line is nothing", async () => {
    const client = new ScriptedClient();
    const { workspace } = await start(client);
    expect(await workspace.submit("   ")).toBe(false);
    expect(client.paramsOf("conversations/open")).toEqual([]);
  });

  test("without a model the message stays in the box and the page says why", async () => {
    const client = new ScriptedClient({ "session/describe": () => ({ models: [], consoleOrigin: "" }) });
    const { workspace } = await start(client);
    expect(await workspace.submit("hello")).toBe(false);
    expect(workspace.getState().problem).toContain("No model");
  });

  test("a refused conversation is said, not thrown", async () => {
    const client = new ScriptedClient({
      "conversations/open": () => {
        throw new RpcError(-32003, "unknown conversation");
      },
    });
    const { workspace, address } = await start(client, [], "cnv_gone");
    expect(workspace.getState()).toMatchObject({ currentId: null, loading: false });
    expect(workspace.getState().problem).toContain("does not exist");
    expect(address()).toBeNull();
  });
});

describe("the model", () => {
  const local = { ...largeModel, id: "local", displayName: "Small" };
  const remote = { ...largeModel, local: false };
  const models = () => ({ models: [local, remote], consoleOrigin: "" });
  const asked = (client: ScriptedClient) =>
    client.paramsOf("turns/begin").map((params) => (params as { modelId: string }).modelId);

  test("is chosen for one conversation, and the others keep theirs", async () => {
    const client = new ScriptedClient({ "session/describe": models });
    const { workspace } = await start(client, ["One.", "Two.", "Three."]);
    workspace.chooseModel("remote");
    await workspace.submit("hello");
    await until(workspace, ({ busy, log }) => !busy && log.entries.length === 2);
    await workspace.open("cnv_1");
    expect(workspace.getState().model?.id).toBe("local");
    await workspace.submit("hello here");
    await until(workspace, ({ busy, log }) => !busy && log.entries.length === 2);
    await workspace.open("cnv_new");
    expect(workspace.getState().model?.id).toBe("remote");
    await workspace.open(null);
    expect(workspace.getState().model?.id).toBe("local");
    expect(asked(client)).toEqual(["remote", "local"]);
  });

  test("stays the conversation's own when the page is loaded again, until the conversation is deleted", async () => {
    const client = new ScriptedClient({ "session/describe": models, "conversations/delete": () => ({}) });
    const { workspace, environment } = await start(client, ["One."]);
    workspace.chooseModel("remote");
    await workspace.submit("hello");
    await until(workspace, ({ busy, log }) => !busy && log.entries.length === 2);

    const again = new Workspace(environment);
    await again.start();
    expect(again.getState()).toMatchObject({ currentId: "cnv_new", model: { id: "remote" } });
    await again.open(null);
    expect(again.getState().model?.id).toBe("local");
    await again.library.delete("cnv_new");
    await again.open("cnv_new");
    expect(again.getState().model?.id).toBe("local");
  });

  test("that is gone gives way to the first one", async () => {
    const client = new ScriptedClient({ "session/describe": models });
    const { workspace } = await start(client);
    workspace.chooseModel("gone");
    expect(workspace.getState().model?.id).toBe("local");
  });
});

test("what another page has set holds here too, and is not undone by what is set here next", async () => {
  const { workspace, environment, keepElsewhere } = await start(new ScriptedClient());
  keepElsewhere("pinned", "cnv_1");
  keepElsewhere("settings", JSON.stringify({ temperature: 1.5 }));
  expect(workspace.getState().settings.temperature).toBe(1.5);
  workspace.changeSettings({ ...workspace.getState().settings, steps: 5 });
  expect(JSON.parse(environment.kept.read("settings"))).toMatchObject({ temperature: 1.5, steps: 5 });
});

describe("a call that waits", () => {
  test("is docked with its approval, opens the console, and runs on once it is answered", async () => {
    const { client, release } = waitingTools();
    const { workspace, opened } = await start(client, [DELETE]);
    await workspace.submit("delete a.txt");
    await until(workspace, ({ log }) => Object.values(log.calls).some(({ phase }) => phase === "running"));
    client.notify("approvals/requested", { approval: approvalFor("call_1") });
    const waiting = await until(workspace, ({ log }) => waitingCalls(log).length === 1);
    expect(waiting.list?.[0]).toMatchObject({ waiting: 1, busy: true });
    workspace.openApproval("apr_1");
    expect(opened).toEqual(["http://console.localhost:8765/approvals/apr_1#asked"]);
    client.notify("approvals/resolved", { approvalId: "apr_1", callId: "call_1", status: "approved" });
    release(resultOf("call_1", ok("deleted")));
    const done = await until(workspace, ({ busy }) => !busy);
    expect(done.log.calls.call_1).toMatchObject({ phase: "closed", result: { outcome: "ok" } });
    expect(done.log.entries.at(-1)).toMatchObject({ kind: "assistant", text: "Deleted `a.txt`." });
  });

  test("rings once for a person who has turned sound on, whatever is told again", async () => {
    const { client } = waitingTools();
    const { workspace, rung } = await start(client, [DELETE]);
    const { settings } = workspace.getState();
    expect(settings.sound).toBe(false);
    workspace.changeSettings({ ...settings, sound: true });
    expect(rung).toEqual(["sample"]);
    await workspace.submit("delete a.txt");
    await until(workspace, ({ log }) => Object.values(log.calls).some(({ phase }) => phase === "running"));
    for (const approval of [approvalFor("call_1"), approvalFor("call_1")])
      client.notify("approvals/requested", { approval });
    expect(rung).toEqual(["sample", "apr_1"]);
    workspace.changeSettings({ ...settings, sound: true, steps: 3 });
    expect(rung).toHaveLength(2);
  });

  test("is cancelled by the stop button together with its turn", async () => {
    const { client } = waitingTools();
    const { workspace } = await start(client, [DELETE]);
    await workspace.submit("delete a.txt");
    await until(workspace, ({ log }) => Object.values(log.calls).some(({ phase }) => phase === "running"));
    await workspace.stopTurn();
    const state = await until(workspace, ({ busy }) => !busy);
    expect(client.paramsOf("turns/cancel")).toMatchObject([{ turnId: "trn_1" }]);
    expect(state.log.calls.call_1?.result?.outcome).toBe("cancelled");
  });

  test("goes on while another conversation is on the screen", async () => {
    const { client, release } = waitingTools();
    const { workspace } = await start(client, [DELETE]);
    await workspace.submit("delete a.txt");
    await until(workspace, ({ log }) => Object.values(log.calls).some(({ phase }) => phase === "running"));
    await workspace.open("cnv_1");
    expect(workspace.getState().log.entries).toEqual([]);
    release(resultOf("call_1", ok("deleted")));
    await until(workspace, ({ list }) => list?.every(({ busy }) => !busy) === true);
    await workspace.open("cnv_new");
    expect(workspace.getState().log.entries.at(-1)).toMatchObject({ text: "Deleted `a.txt`." });
  });
});

describe("coming back", () => {
  const call = proposed("call_old", "delete_file", { path: "a.txt" });
  const opened = (snapshot: boolean) => ({
    conversation: conversationOf("cnv_1"),
    messages: [
      { role: "user", content: "delete a.txt", turnId: "trn_1", index: 0, provenance: "claimed", at },
      { role: "assistant", content: "", toolCalls: [call], turnId: "trn_1", index: 1, provenance: "claimed", at },
    ],
    openTurn: {
      turnId: "trn_1",
      turnIndex: 0,
      modelId: "sha256:small",
      ...(snapshot && { snapshot: snapshotOf("trn_1", 2) }),
    },
  });
  const live = { calls: [{ call, turnId: "trn_1", state: "awaitingApproval", approvalId: "apr_9", receivedAt: at }] };

  test("after a reload a waiting call is shown, asked for again under its id, and the turn goes on", async () => {
    let release: (result: ToolResult) => void = () => undefined;
    const client = new ScriptedClient({
      "conversations/open": () => opened(true),
      "tools/list-calls": () => live,
      "tools/invoke": () =>
        new Promise<ToolResult>((resolve) => {
          release = resolve;
        }),
    });
    const { workspace } = await start(client, [], "cnv_1");
    const state = await until(workspace, ({ busy }) => busy);
    expect(waitingCalls(state.log)).toMatchObject([{ approvalId: "apr_9" }]);
    await until(workspace, () => client.paramsOf("tools/invoke").length === 1);
    expect(client.paramsOf("tools/invoke")).toMatchObject([{ call, snapshotId: "snp_2" }]);
    release(resultOf("call_old", ok("deleted")));
    const done = await until(workspace, ({ busy }) => !busy);
    expect(done.log.entries.at(-1)).toMatchObject({ text: "Deleted `a.txt`." });
  });

  test("an answer that was interrupted is continued only when the person says so", async () => {
    const client = new ScriptedClient({
      "conversations/open": () => ({ ...opened(true), messages: opened(true).messages.slice(0, 1) }),
    });
    const { workspace } = await start(client, ['{"answer":"Which one?"}'], "cnv_1");
    expect(workspace.getState()).toMatchObject({ busy: false, unfinishedTurn: { elsewhere: false } });
    expect(client.paramsOf("inference/token")).toEqual([]);
    await workspace.continueTurn();
    expect(workspace.getState().log.entries.at(-1)).toMatchObject({ text: "Which one?" });
    expect(workspace.getState().unfinishedTurn).toBeNull();
  });

  test("one that this tab ran until it was loaded again goes on by itself, three times at most", async () => {
    const client = new ScriptedClient({
      "conversations/open": () => ({ ...opened(true), messages: opened(true).messages.slice(0, 1) }),
    });
    const marks = JSON.stringify({ cnv_1: { turnId: "trn_1", times: 2 } });
    const { workspace } = await start(client, ['{"answer":"Which one?"}'], "cnv_1", marks);
    const state = await until(workspace, ({ busy, log }) => !busy && log.entries.length > 1);
    expect(state.log.entries.at(-1)).toMatchObject({ text: "Which one?" });
    const marksAfter = JSON.stringify({ cnv_1: { turnId: "trn_1", times: 3 } });
    const again = await start(client, [], "cnv_1", marksAfter);
    expect(again.workspace.getState()).toMatchObject({ busy: false, unfinishedTurn: { elsewhere: false } });
  });

  test("one that cannot go on by itself now says that it was interrupted", async () => {
    const client = new ScriptedClient({
      "conversations/open": () => ({ ...opened(true), messages: opened(true).messages.slice(0, 1) }),
    });
    const page = pageOf(client);
    page.environment.address.write("cnv_1");
    page.environment.keptInTab.write("turns-under-way", JSON.stringify({ cnv_1: { turnId: "trn_1", times: 0 } }));
    const workspace = new Workspace({ ...page.environment, loadLoop: () => Promise.reject(new Error("away")) });
    await workspace.start();
    const state = await until(workspace, ({ busy }) => !busy);
    expect(state.unfinishedTurn).toMatchObject({ elsewhere: false });
  });

  test("what was proposed and never sent is not sent without the person", async () => {
    const client = new ScriptedClient({ "conversations/open": () => opened(true) });
    const marks = JSON.stringify({ cnv_1: { turnId: "trn_1", times: 0 } });
    const { workspace } = await start(client, [], "cnv_1", marks);
    expect(workspace.getState()).toMatchObject({ busy: false, unfinishedTurn: { elsewhere: false } });
    expect(client.paramsOf("tools/invoke")).toEqual([]);
  });

  test("a turn that this tab ran in another conversation goes on too", async () => {
    const client = new ScriptedClient({
      "conversations/open": ({ conversationId }: { conversationId?: string }) =>
        conversationId === "cnv_1"
          ? { ...opened(true), messages: opened(true).messages.slice(0, 1) }
          : { conversation: conversationOf("cnv_2"), messages: [] },
    });
    const marks = JSON.stringify({ cnv_1: { turnId: "trn_1", times: 0 }, cnv_3: "?" });
    await start(client, ['{"answer":"Which one?"}'], "cnv_2", marks);
    await expect.poll(() => client.paramsOf("messages/append")).toMatchObject([{ message: { content: "Which one?" } }]);
  });

  test("or left as it is, and then nothing of it runs on", async () => {
    const client = new ScriptedClient({ "conversations/open": () => opened(true) });
    const { workspace } = await start(client, [], "cnv_1");
    await workspace.discardTurn();
    expect(client.paramsOf("turns/cancel")).toEqual([{ conversationId: "cnv_1", turnId: "trn_1" }]);
    expect(workspace.getState().log.calls.call_old?.result?.outcome).toBe("cancelled");
  });

  test("a turn that another tab holds can be left to it", async () => {
    const client = new ScriptedClient({ "conversations/open": () => opened(false), "tools/list-calls": () => live });
    const { workspace } = await start(client, [], "cnv_1");
    await workspace.discardTurn();
    expect(workspace.getState().unfinishedTurn).toBeNull();
    expect(client.paramsOf("turns/cancel")).toEqual([]);
  });

  test("a turn that another tab holds is taken over only on request", async () => {
    const client = new ScriptedClient({
      "conversations/open": ({ takeOver }: { takeOver?: boolean }) => opened(takeOver === true),
      "tools/list-calls": () => live,
      "tools/invoke": () => resultOf("call_old", ok("deleted")),
    });
    const { workspace } = await start(client, [], "cnv_1");
    expect(workspace.getState()).toMatchObject({ busy: false, unfinishedTurn: { elsewhere: true } });
    expect(client.paramsOf("tools/invoke")).toEqual([]);
    await workspace.continueTurn();
    expect(workspace.getState().log.entries.at(-1)).toMatchObject({ text: "Deleted `a.txt`." });
  });

  test("a new connection takes the turn under way along", async () => {
    const { client } = waitingTools();
    const { workspace } = await start(client, [DELETE]);
    await workspace.submit("delete a.txt");
    await until(workspace, ({ log }) => Object.values(log.calls).some(({ phase }) => phase === "running"));
    await client.reconnect();
    expect(client.paramsOf("conversations/open").at(-1)).toEqual({ conversationId: "cnv_new", takeOver: true });
    // The scripted gateway says that no turn is open any more, so it is over here as well.
    const state = await until(workspace, ({ busy }) => !busy);
    expect(state.log.entries.at(-1)).toMatchObject({ kind: "notice" });
  });
});

describe("the list", () => {
  test("renames, deletes and leaves what is deleted", async () => {
    const client = new ScriptedClient({
      "conversations/rename": ({ title }: { title: string }) => ({ conversation: conversationOf("cnv_1", title) }),
    });
    const { workspace } = await start(client, [], "cnv_1");
    await workspace.library.rename("cnv_1", "Garden");
    expect(workspace.getState().title).toBe("Garden");
    await workspace.library.delete("cnv_1");
    expect(workspace.getState()).toMatchObject({ currentId: null, list: [] });
  });

  test("the back button shows the conversation of before", async () => {
    const { workspace, goTo } = await start(new ScriptedClient(), [], null);
    goTo("cnv_1");
    await until(workspace, ({ currentId, loading }) => currentId === "cnv_1" && !loading);
  });

  test("grants are listed and revoked", async () => {
    const client = new ScriptedClient({
      "grants/list": () => ({ grants: [{ id: "grt_1" }] }),
      "grants/revoke": () => ({}),
    });
    const { workspace } = await start(client);
    await workspace.grants.load();
    expect(workspace.getState().grants).toHaveLength(1);
    await workspace.grants.revoke("grt_1");
    expect(workspace.getState().grants).toEqual([]);
  });
});
