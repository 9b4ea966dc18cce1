import { describe, expect, test } from "vitest";
import type { ChatRequest } from "../../../src/agent/chat.ts";
import { copy } from "../../../src/agent/copy.ts";
import type { Message, Observation } from "../../../src/agent/messages.ts";
import { MAX_ROUNDS } from "../../../src/agent/retries.ts";
import type { ToolRequest } from "../../../src/protocol/generated.ts";
import { requirement } from "../../requirement.ts";
import {
  calls,
  descriptor,
  gatewayGiving,
  largeModel,
  ok,
  play,
  proposed,
  resultOf,
  ScriptedGateway,
  scriptedChat,
  smallModel,
  snapshotOf,
  stage,
  until,
} from "./scripted.ts";

const LIST = '{"tool":"list_directory","arguments":{"path":"notes"}}';
const denied: Observation = {
  outcome: "deniedByUser",
  reason: "denied",
  content: "",
  trust: "trusted",
  truncated: false,
};

describe("a turn with the small model", () => {
  test("lists, words the result, records both messages and ends the turn", async () => {
    requirement("002-14", "a turn is begun, its call sent, its messages recorded and the turn ended");
    const gateway = gatewayGiving(ok("a.txt"));
    const { runner, events, said } = stage(gateway, scriptedChat(LIST, "It holds a.txt.").chat);
    expect(await play(runner, "what is in notes?", smallModel)).toBe(true);
    expect(said()).toEqual(["It holds a.txt."]);
    expect(gateway.seen.map((each) => each.method)).toEqual([
      "turns/begin",
      "inference/token",
      "messages/append",
      "tools/invoke",
      "messages/append",
      "turns/end",
    ]);
    expect(gateway.paramsOf("turns/begin")[0]).toEqual({
      conversationId: "cnv_1",
      modelId: smallModel.id,
      message: { role: "user", content: "what is in notes?" },
    });
    expect(gateway.paramsOf("tools/invoke")[0]).toEqual({
      conversationId: "cnv_1",
      turnId: "trn_1",
      snapshotId: "snp_1",
      snapshotDigest: snapshotOf("trn_1").digest,
      call: { id: "call_1", name: "list_directory", arguments: { path: "notes" } },
      model: { id: smallModel.id, backend: "local-cpu" },
    });
    expect(gateway.paramsOf("messages/append").map((each) => each.message)).toEqual([
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "call_1", name: "list_directory", arguments: { path: "notes" } }],
      },
      { role: "assistant", content: "It holds a.txt." },
    ]);
    expect(events.at(-1)).toEqual({ type: "turn:ended", ending: "answered", label: "tool:list_directory" });
    expect(runner.busy).toBe(false);
  });

  test("a model that talks nonsense gets a calm sentence and nothing is run", async () => {
    requirement("000-38", "nonsense ends in one calm sentence without a call");
    const gateway = gatewayGiving();
    const { runner, said } = stage(gateway, scriptedChat("uh", "{{{", "sure!").chat);
    await play(runner, "do it", smallModel);
    expect(said()).toEqual([copy.rephrase]);
    expect(gateway.paramsOf("tools/invoke")).toHaveLength(0);
  });

  test("a person's no is told calmly, and the model is not asked again", async () => {
    const { chat, requests } = scriptedChat('{"tool":"delete_file","arguments":{"path":"a"}}');
    const { runner, said } = stage(gatewayGiving(denied), chat);
    await play(runner, "delete a", smallModel);
    expect(said()[0]).toContain("You said no");
    expect(requests).toHaveLength(1);
  });
});

describe("a turn with a tool-calling model", () => {
  test("several calls of one reply are sent one at a time, in order, each after the one before", async () => {
    requirement("002-54", "calls of one reply are sent one at a time");
    const log: string[] = [];
    const gateway = new ScriptedGateway({
      "tools/invoke": async ({ call }: ToolRequest) => {
        log.push(`sent ${call.id}`);
        await Promise.resolve();
        log.push(`closed ${call.id}`);
        return resultOf(call.id, ok("done"));
      },
    });
    const { chat } = scriptedChat(calls(["list_directory", { path: "a" }], ["read_file", { path: "b" }]), "Both done.");
    const { runner, said } = stage(gateway, chat);
    await play(runner, "do both", largeModel);
    expect(log).toEqual(["sent call_1", "closed call_1", "sent call_2", "closed call_2"]);
    expect(said()).toEqual(["Both done."]);
  });

  test("those of them that a person is asked about are sent at once, each after the one before it", async () => {
    const sent: (string | undefined)[][] = [];
    const offered = [descriptor("write_file", { permission: "consent" })];
    const gateway = new ScriptedGateway({
      "turns/begin": () => ({ snapshot: { ...snapshotOf("trn_1"), tools: offered } }),
      "tools/invoke": async ({ call, after }: ToolRequest) => {
        sent.push([call.id, after]);
        await Promise.resolve();
        return resultOf(call.id, ok("done"));
      },
    });
    const { chat } = scriptedChat(calls(["write_file", { path: "a" }], ["write_file", { path: "b" }]), "Both done.");
    const { runner, said } = stage(gateway, chat);
    await play(runner, "write both", largeModel);
    expect(sent).toEqual([
      ["call_1", undefined],
      ["call_2", "call_1"],
    ]);
    expect(said()).toEqual(["Both done."]);
  });

  test("a denial is fed back and the model has the last word", async () => {
    requirement("002-54", "a denial is fed back to a tool-calling model");
    requirement("000-02", "the outcome of a call is in the next request of the same conversation");
    const { chat, requests } = scriptedChat(calls(["delete_file", { path: "a" }]), "All right, I leave it.");
    const { runner, said } = stage(gatewayGiving(denied), chat);
    await play(runner, "delete a", largeModel);
    expect(requests[1]?.messages.at(-1)?.content).toContain("deniedByUser");
    expect(said()).toEqual(["All right, I leave it."]);
  });

  test("a person who wants fewer rounds gets fewer, and nobody gets more", async () => {
    for (const [wanted, given] of [
      [3, 3],
      [100, MAX_ROUNDS],
    ] as const) {
      const lines = Array.from({ length: 20 }, () => calls(["list_directory", { path: "again" }]));
      const gateway = gatewayGiving(...Array.from({ length: 20 }, (_, count) => ok(`${count} files`)));
      const { runner, said } = stage(gateway, scriptedChat(...lines).chat, { mostRounds: () => wanted });
      await play(runner, "loop", largeModel);
      expect(gateway.paramsOf("tools/invoke")).toHaveLength(given);
      expect(said()).toEqual([copy.capped]);
    }
  });

  test("a model that never stops is stopped after eight rounds, and its work stands", async () => {
    requirement("000-07", "eight rounds are the most by default");
    const lines = Array.from({ length: 20 }, () => calls(["list_directory", { path: "again" }]));
    const gateway = gatewayGiving(...Array.from({ length: 20 }, (_, count) => ok(`${count} files`)));
    const { runner, events, said } = stage(gateway, scriptedChat(...lines).chat);
    await play(runner, "loop", largeModel);
    expect(gateway.paramsOf("tools/invoke")).toHaveLength(MAX_ROUNDS);
    expect(said()).toEqual([copy.capped]);
    expect(events.at(-1)).toEqual({
      type: "turn:ended",
      ending: "capped",
      label: `tool:${Array(MAX_ROUNDS).fill("list_directory").join("+")}`,
    });
    expect(new Set(gateway.paramsOf("tools/invoke").map(({ call }) => call.id)).size).toBe(MAX_ROUNDS);
  });

  test("the same call with the same result twice ends the turn, calmly", async () => {
    const again = calls(["list_directory", { path: "again" }]);
    const gateway = gatewayGiving(ok("same"), ok("same"));
    const { runner, events, said } = stage(gateway, scriptedChat(again, again).chat);
    await play(runner, "loop", largeModel);
    expect(said()).toEqual([copy.looped]);
    expect(events.at(-1)).toMatchObject({ ending: "capped", label: "tool:list_directory+list_directory" });
  });

  test("nonsense after work keeps the work", async () => {
    const { runner, said } = stage(
      gatewayGiving(ok("done")),
      scriptedChat(calls(["list_directory", {}]), "", "", "").chat,
    );
    await play(runner, "go", largeModel);
    expect(said()).toEqual([copy.keptWork]);
  });
});

describe("stopping", () => {
  async function* forever(request: ChatRequest) {
    yield { kind: "text" as const, text: "Once upon a time" };
    await new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
  }

  test("while the model writes: generation is aborted, the turn cancelled, what was written kept", async () => {
    requirement("002-09", "stop aborts the model and cancels the turn");
    const gateway = new ScriptedGateway();
    const { chat, requests } = scriptedChat(forever);
    const { runner, events, said } = stage(gateway, chat, {});
    const turn = play(runner, "tell me a story", largeModel);
    await until(() => events.some((event) => event.type === "text:streamed"));
    await runner.stop();
    await turn;
    expect(requests[0]?.signal.aborted).toBe(true);
    expect(gateway.paramsOf("turns/cancel")).toEqual([{ conversationId: "cnv_1", turnId: "trn_1" }]);
    expect(said()).toEqual(["Once upon a time"]);
    expect(events.at(-1)).toEqual({ type: "turn:ended", ending: "stopped", label: "words" });
  });

  test("because another tab goes on with it: what was written by then is not put on record as the answer", async () => {
    const gateway = new ScriptedGateway();
    const { runner, events, said } = stage(gateway, scriptedChat(forever).chat, {});
    const turn = play(runner, "tell me a story", largeModel);
    await until(() => events.some((event) => event.type === "text:streamed"));
    runner.revoked("snp_1", "rebound");
    await turn;
    expect(said()).toEqual([]);
    expect(gateway.paramsOf("messages/append")).toEqual([]);
    expect(events.at(-1)).toEqual({ type: "turn:ended", ending: "failed", label: "words" });
  });

  test("while calls wait for a person: nothing more is asked or sent", async () => {
    const gateway = new ScriptedGateway({
      "tools/invoke": (_request: ToolRequest, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const { chat, requests } = scriptedChat(calls(["delete_file", { path: "a" }], ["delete_file", { path: "b" }]));
    const { runner, events } = stage(gateway, chat);
    const turn = play(runner, "delete both", largeModel);
    await until(() => events.some((event) => event.type === "call:sent"));
    await runner.stop();
    await turn;
    expect(gateway.paramsOf("tools/invoke")).toHaveLength(2);
    expect(requests).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "turn:ended", ending: "stopped" });
  });

  test("called-off calls are closed, and answered for the next turn: servers want a result for every call", async () => {
    const gateway = new ScriptedGateway({
      "tools/invoke": (_request: ToolRequest, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const both = calls(["delete_file", { path: "a" }], ["delete_file", { path: "b" }]);
    const { chat, requests } = scriptedChat(both, "As you like.");
    const { runner, events } = stage(gateway, chat);
    const turn = play(runner, "delete both", largeModel);
    await until(() => events.some((event) => event.type === "call:sent"));
    await runner.stop();
    await turn;
    const closed = events.flatMap((event) => (event.type === "call:closed" ? [event.result] : []));
    expect(closed.map(({ outcome }) => outcome)).toEqual(["cancelled", "cancelled"]);
    // The first was on its way, and the gateway may have run it; the second waits for it and cannot have run.
    expect(closed.map(({ error }) => error)).toEqual([copy.unheard, undefined]);
    await play(runner, "leave them", largeModel);
    const asked = requests[1]?.messages ?? [];
    expect(asked.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "tool", "user"]);
  });

  test("before the turn has begun: the message goes back to its box", async () => {
    const gateway = new ScriptedGateway({
      "turns/begin": (_params: unknown, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const { runner, events } = stage(gateway, scriptedChat().chat);
    const turn = play(runner, "hello", smallModel);
    await until(() => gateway.seen.length > 0);
    await runner.stop();
    expect(await turn).toBe(false);
    expect(events).toEqual([]);
  });
});

describe("after a reload", () => {
  const call = proposed("call_old", "delete_file", { path: "a" });
  const earlier: Message[] = [
    { role: "user", turnId: "trn_9", content: "delete a" },
    { role: "assistant", turnId: "trn_9", content: "", toolCalls: [call] },
  ];

  test("a call that waited is sent again under its id, and the loop goes on with its result", async () => {
    const gateway = gatewayGiving(ok("deleted a"));
    const { runner, said } = stage(gateway, scriptedChat().chat, { messages: earlier });
    await runner.resume(snapshotOf("trn_9", 3), smallModel);
    expect(gateway.paramsOf("tools/invoke")).toMatchObject([{ call, snapshotId: "snp_3", turnId: "trn_9" }]);
    expect(gateway.paramsOf("turns/begin")).toHaveLength(0);
    expect(said()).toEqual(["Deleted `a`."]);
  });

  test("a call that the person made is sent again, and no model is asked", async () => {
    const gateway = gatewayGiving(ok("deleted a"));
    const { chat, requests } = scriptedChat();
    const { runner, events } = stage(gateway, chat, { messages: earlier });
    await runner.resume(snapshotOf("trn_9", 3), null);
    expect(gateway.paramsOf("tools/invoke")[0]).toMatchObject({ call });
    expect(requests).toHaveLength(0);
    expect(events.at(-1)).toMatchObject({ ending: "answered", label: "tool:delete_file" });
  });

  test("rounds made before the reload count", async () => {
    const worn: Message[] = [{ role: "user", turnId: "trn_9", content: "go" }];
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const each = proposed(`old_${round}`, "list_directory");
      worn.push({ role: "assistant", turnId: "trn_9", content: "", toolCalls: [each] });
      worn.push({ role: "tool", turnId: "trn_9", call: each, result: ok("x") });
    }
    const { runner, said } = stage(gatewayGiving(), scriptedChat().chat, { messages: worn });
    await runner.resume(snapshotOf("trn_9"), largeModel);
    expect(said()).toEqual([copy.capped]);
  });
});

describe("a call that the person makes", () => {
  test("goes through the same gate and asks no model", async () => {
    const gateway = gatewayGiving(ok("a.txt"));
    const { chat, requests } = scriptedChat();
    const { runner, events } = stage(gateway, chat);
    const begun = await runner.call("/call list_directory", { name: "list_directory", arguments: { path: "." } });
    await begun?.finished;
    expect(requests).toHaveLength(0);
    const [request] = gateway.paramsOf("tools/invoke");
    expect(request?.call).toEqual({ id: "call_1", name: "list_directory", arguments: { path: "." } });
    expect(request?.model).toBeUndefined();
    expect(events.at(-1)).toEqual({ type: "turn:ended", ending: "answered", label: "tool:list_directory" });
  });
});
