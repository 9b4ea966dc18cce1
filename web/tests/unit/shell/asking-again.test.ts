import { describe, expect, test } from "vitest";
import { PartMissing } from "../../../src/features/shell/shell-environment.ts";
import { Workspace } from "../../../src/features/shell/workspace.ts";
import type { WorkspaceState } from "../../../src/features/shell/workspace-state.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { largeModel, ok, resultOf } from "../agent/scripted.ts";
import { start, until, waitingTools } from "./open-workspace.ts";
import { conversationOf, pageOf, ScriptedClient } from "./scripted-client.ts";

const at = "2026-11-21T10:00:00.000Z";
const DELETE = '{"tool":"delete_file","arguments":{"path":"a.txt"}}';

describe("asking again", () => {
  const said = (turnId: string, content: string) =>
    ({ role: "user", content, turnId, provenance: "claimed", at }) as const;
  const stored = {
    conversation: { ...conversationOf("cnv_1"), turnCount: 2 },
    messages: [said("t1", "one"), said("t2", "two")],
  };
  const renamed = ({ title }: { title: string }) => ({ conversation: { ...branch, title } });
  const branch = { ...conversationOf("cnv_2"), parentId: "cnv_1", inheritedTurns: 1 };

  test("from a turn on takes place in a copy of what was before it, with the same model", async () => {
    const remote = { ...largeModel, id: "remote" };
    const client = new ScriptedClient({
      "session/describe": () => ({ models: [largeModel, remote], consoleOrigin: "" }),
      "conversations/open": () => stored,
      "conversations/fork": () => ({ conversation: branch, messages: [said("t1", "one")] }),
      "conversations/rename": renamed,
    });
    const { workspace, address } = await start(client, ["Two and a half."], "cnv_1");
    workspace.chooseModel("remote");
    await workspace.askInBranch("t2", "two, please");
    const state = await until(workspace, ({ busy, log }) => !busy && log.entries.length === 3);
    expect(client.paramsOf("conversations/fork")).toEqual([{ conversationId: "cnv_1", fromTurn: 1 }]);
    expect(client.paramsOf("turns/begin")).toMatchObject([{ conversationId: "cnv_2", modelId: "remote" }]);
    expect(address()).toBe("cnv_2");
    expect(state.log.turnIds).toEqual(["t1", "trn_1"]);
    expect(state.title, "branches of one conversation are told apart").toBe(`${conversationOf("cnv_1").title} (2)`);
  });

  test("a text that could not be sent is in the message box of the branch", async () => {
    const client = new ScriptedClient({
      "conversations/open": () => stored,
      "conversations/fork": () => ({ conversation: branch, messages: [] }),
      "conversations/rename": renamed,
      "turns/begin": () => {
        throw new RpcError(-32000, "no");
      },
    });
    const { workspace } = await start(client, [], "cnv_1");
    await workspace.askInBranch("t2", "two, please");
    expect(workspace.getState()).toMatchObject({ currentId: "cnv_2", offered: { text: "two, please" } });
  });

  test("from the first turn on gives the branch a title of its own", async () => {
    const client = new ScriptedClient({
      "conversations/open": () => stored,
      "conversations/fork": () => ({ conversation: branch, messages: [] }),
      "conversations/rename": renamed,
    });
    const { workspace } = await start(client, ["Eins."], "cnv_1");
    await workspace.askInBranch("t1", "uno");
    expect(workspace.getState().title).toBe("uno");
    await workspace.open("cnv_1");
    await workspace.askInBranch("t1", conversationOf("cnv_1").title);
    expect(client.paramsOf("conversations/rename").at(-1)).toMatchObject({
      title: `${conversationOf("cnv_1").title} (2)`,
    });
    await workspace.open("cnv_1");
    await workspace.askInBranch("no such turn", "uno");
    expect(client.paramsOf("conversations/fork")).toHaveLength(2);
  });
});

describe("a text that is sent while an answer is under way", () => {
  const running = ({ log }: WorkspaceState) => Object.values(log.calls).some(({ phase }) => phase === "running");

  test("waits, and begins a turn of its own when the answer is complete", async () => {
    const { client, release } = waitingTools();
    const { workspace } = await start(client, [DELETE, '{"answer":"Second."}']);
    await workspace.submit("delete a.txt");
    await until(workspace, running);
    expect(await workspace.submit("and then?")).toBe(true);
    expect(workspace.getState().queue).toEqual(["and then?"]);
    expect(client.paramsOf("turns/begin")).toHaveLength(1);
    release(resultOf("call_1", ok("deleted")));
    await until(workspace, ({ queue, busy, log }) => queue.length === 0 && !busy && log.turnIds.length === 2);
    expect(client.paramsOf("turns/begin").at(-1)).toMatchObject({ message: { content: "and then?" } });
  });

  test("is taken in before the next step where it begins with also, or where the person says so", async () => {
    const { client, release } = waitingTools();
    const { workspace } = await start(client, [
      DELETE,
      '{"answer":"One."}',
      '{"answer":"Two."}',
      '{"answer":"Three."}',
    ]);
    await workspace.submit("delete a.txt");
    await until(workspace, running);
    for (const text of ["later", "sooner", "Also this", "/call read_file"]) await workspace.submit(text);
    workspace.line.steer(2);
    workspace.line.steer(0);
    expect(workspace.getState()).toMatchObject({
      queue: ["Also this", "sooner", "later", "/call read_file"],
      steering: 2,
    });
    workspace.line.remove(0);
    expect(workspace.getState().steering).toBe(1);
    workspace.line.remove(2);
    release(resultOf("call_1", ok("deleted")));
    const state = await until(
      workspace,
      ({ queue, busy, log }) => queue.length === 0 && !busy && log.turnIds.length === 2,
    );
    const said = state.log.entries.flatMap((each) => (each.kind === "user" ? [[each.text, each.steered]] : []));
    expect(said).toEqual([
      ["delete a.txt", false],
      ["sooner", true],
      ["later", false],
    ]);
  });

  test("is sent after the answer where no step was left to take it in", async () => {
    const { client, release } = waitingTools();
    const { workspace } = await start(client, ["Second."]);
    await workspace.submit('/call delete_file {"path":"a.txt"}');
    await until(workspace, running);
    await workspace.submit("also look again");
    release(resultOf("call_1", ok("deleted")));
    await until(workspace, ({ queue, busy, log }) => queue.length === 0 && !busy && log.turnIds.length === 2);
    expect(client.paramsOf("turns/begin").at(-1)).toMatchObject({ message: { content: "also look again" } });
  });

  test("stays in line after a stop, is edited and removed, and is sent when the person says so", async () => {
    const { client } = waitingTools();
    const { workspace } = await start(client, [DELETE, '{"answer":"Third."}']);
    await workspace.submit("delete a.txt");
    await until(workspace, running);
    for (const text of ["one", "two", "three"]) await workspace.submit(text);
    await workspace.stopTurn();
    await until(workspace, ({ busy }) => !busy);
    expect(workspace.getState().queue).toEqual(["one", "two", "three"]);
    workspace.line.edit(0);
    expect(workspace.getState().offered).toEqual({ text: "one" });
    workspace.line.remove(0);
    await workspace.line.sendNext(null);
    await until(workspace, ({ busy, queue }) => !busy && queue.length === 0);
    expect(client.paramsOf("turns/begin").at(-1)).toMatchObject({ message: { content: "three" } });
  });
});

test("a part of the page that cannot be had is said, and the text stays", async () => {
  const page = pageOf(new ScriptedClient());
  const workspace = new Workspace({ ...page.environment, loadLoop: () => Promise.reject(new PartMissing()) });
  await workspace.start();
  expect(await workspace.submit("hello")).toBe(false);
  expect(workspace.getState()).toMatchObject({ busy: false, problem: expect.stringContaining("Reload the page") });
});
