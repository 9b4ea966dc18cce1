// Requirement ids: 002-14, 002-54.
import { describe, expect, test } from "vitest";
import { MAX_ROUNDS } from "../../../src/agent/asking.ts";
import { ChatFailure, type ChatRequest } from "../../../src/agent/chat.ts";
import { copy } from "../../../src/agent/copy.ts";
import type { Message, Observation } from "../../../src/agent/messages.ts";
import type { Runner } from "../../../src/agent/runner.ts";
import type { ModelInfo, ToolRequest } from "../../../src/protocol/generated.ts";
import { ConnectionLost, RpcError, SessionOver } from "../../../src/protocol/rpc.ts";
import {
  calls,
  gatewayGiving,
  largeModel,
  ok,
  proposed,
  resultOf,
  ScriptedGateway,
  scriptedChat,
  smallModel,
  snapshotOf,
  stage,
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

  test("a denial is fed back and the model has the last word", async () => {
    const { chat, requests } = scriptedChat(calls(["delete_file", { path: "a" }]), "All right, I leave it.");
    const { runner, said } = stage(gatewayGiving(denied), chat);
    await play(runner, "delete a", largeModel);
    expect(requests[1]?.messages.at(-1)?.content).toContain("deniedByUser");
    expect(said()).toEqual(["All right, I leave it."]);
  });

  test("a model that never stops is stopped after eight rounds, and its work stands", async () => {
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

  test("while a call waits for a person: nothing more is asked or sent", async () => {
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
    expect(gateway.paramsOf("tools/invoke")).toHaveLength(1);
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
    const closed = events.flatMap((event) => (event.type === "call:closed" ? [event.result.outcome] : []));
    expect(closed).toEqual(["cancelled", "cancelled"]);
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

describe("when things break", () => {
  test("a call whose connection was lost is sent again under the same id and the new snapshot", async () => {
    let tries = 0;
    const gateway: ScriptedGateway = new ScriptedGateway({
      "tools/invoke": ({ call }: ToolRequest) => {
        if (++tries === 1) {
          runner.rebound(snapshotOf("trn_1", 2));
          throw new ConnectionLost();
        }
        return resultOf(call.id, ok("a.txt"));
      },
    });
    const { runner, said } = stage(gateway, scriptedChat(LIST, "It holds a.txt.").chat);
    await play(runner, "list", smallModel);
    const requests = gateway.paramsOf("tools/invoke");
    expect(requests.map(({ call, snapshotId }) => [call.id, snapshotId])).toEqual([
      ["call_1", "snp_1"],
      ["call_1", "snp_2"],
    ]);
    expect(said()).toEqual(["It holds a.txt."]);
  });

  test("a turn that the gateway ended during an absence is over here too", async () => {
    const gateway = new ScriptedGateway({
      "tools/invoke": (_request: ToolRequest, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const { runner, events } = stage(gateway, scriptedChat(LIST).chat);
    const turn = play(runner, "list", smallModel);
    await until(() => events.some((event) => event.type === "call:sent"));
    runner.rebound(null);
    await turn;
    expect(events).toContainEqual({ type: "notice:raised", tone: "danger", text: copy.turnOver });
    expect(events.at(-1)).toEqual({ type: "turn:ended", ending: "failed", label: "words" });
  });

  test("a turn that another tab took over is left to it", async () => {
    const gateway = new ScriptedGateway({
      "tools/invoke": (_request: ToolRequest, signal?: AbortSignal) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    const { runner, events } = stage(gateway, scriptedChat(LIST).chat);
    const turn = play(runner, "list", smallModel);
    await until(() => events.some((event) => event.type === "call:sent"));
    runner.revoked("snp_1", "rebound");
    await turn;
    expect(events).toContainEqual({ type: "notice:raised", tone: "danger", text: copy.elsewhere });
    expect(gateway.paramsOf("turns/end")).toHaveLength(0);
  });

  test("after a revoked snapshot a fresh one is asked for before anything else is sent", async () => {
    const changed: Observation = {
      outcome: "refusedByPolicy",
      reason: "policyChanged",
      content: "",
      trust: "trusted",
      truncated: false,
    };
    let sent = 0;
    const gateway = new ScriptedGateway({
      "tools/invoke": ({ call }: ToolRequest) => resultOf(call.id, ++sent === 1 ? changed : ok("done")),
      "turns/refresh": () => ({ snapshot: snapshotOf("trn_1", 2) }),
    });
    const { chat } = scriptedChat(calls(["list_directory", {}]), calls(["list_directory", {}]), "Done.");
    const { runner } = stage(gateway, chat);
    await play(runner, "list", largeModel);
    expect(gateway.paramsOf("tools/invoke").map(({ snapshotId }) => snapshotId)).toEqual(["snp_1", "snp_2"]);
  });

  test("a model that is starting is waited for, visibly", async () => {
    const starting = new ChatFailure("modelUnavailable", "loading", "starting");
    const { runner, events, said } = stage(new ScriptedGateway(), scriptedChat(starting, starting, "Hello.").chat);
    await play(runner, "hi", largeModel);
    expect(events.filter((event) => event.type === "model:waited-for")).toHaveLength(2);
    expect(said()).toEqual(["Hello."]);
  });

  test("somebody else's server that breaks off is asked twice more and no oftener", async () => {
    const crashed = new ChatFailure("modelUnavailable", "broke off", "crashed");
    const theirs = scriptedChat(crashed, crashed, crashed, crashed);
    await play(stage(new ScriptedGateway(), theirs.chat).runner, "hi", { ...largeModel, local: false });
    expect(theirs.requests).toHaveLength(3);
    const ours = stage(new ScriptedGateway(), scriptedChat(crashed, crashed, crashed, crashed, "Hello.").chat);
    await play(ours.runner, "hi", { ...largeModel, local: true });
    expect(ours.said()).toEqual(["Hello."]);
  });

  test("a model that is not there is said calmly, and the turn is closed", async () => {
    const gateway = new ScriptedGateway();
    const { runner, events } = stage(
      gateway,
      scriptedChat(new ChatFailure("modelUnavailable", "no model", "absent")).chat,
    );
    await play(runner, "hi", smallModel);
    expect(events).toContainEqual({ type: "notice:raised", tone: "danger", text: copy.noModel });
    expect(gateway.paramsOf("turns/end")).toHaveLength(1);
  });

  test("a reply that breaks off is asked for again, and its beginning is taken back", async () => {
    async function* broken() {
      yield { kind: "text" as const, text: "Hel" };
      throw new ChatFailure("unreachable", "cut");
    }
    const { runner, events, said } = stage(new ScriptedGateway(), scriptedChat(broken, "Hello.").chat);
    await play(runner, "hi", largeModel);
    expect(events.map((event) => event.type)).toContain("text:discarded");
    expect(said()).toEqual(["Hello."]);
  });

  test("an expired token is replaced", async () => {
    const gateway = new ScriptedGateway();
    const { runner, said } = stage(gateway, scriptedChat(new ChatFailure("unauthorised", "expired"), "Hello.").chat);
    await play(runner, "hi", largeModel);
    expect(gateway.paramsOf("inference/token")).toHaveLength(2);
    expect(said()).toEqual(["Hello."]);
  });

  test("a message the gateway never got can be sent again", async () => {
    const gateway = new ScriptedGateway({
      "turns/begin": () => {
        throw new ConnectionLost();
      },
    });
    const { runner, events } = stage(gateway, scriptedChat().chat);
    expect(await play(runner, "hi", smallModel)).toBe(false);
    expect(events).toEqual([{ type: "notice:raised", tone: "danger", text: copy.notSent }]);
  });

  test("a call that is no well-formed message comes back to the model as its mistake", async () => {
    const gateway = new ScriptedGateway({
      "tools/invoke": () => {
        throw new RpcError(-32602, "`call.arguments` is too long");
      },
    });
    const { chat, requests } = scriptedChat(calls(["list_directory", { path: "x".repeat(500) }]), "Sorry.");
    const { runner, said } = stage(gateway, chat);
    await play(runner, "go", largeModel);
    expect(requests[1]?.messages.at(-1)?.content).toContain("`call.arguments` is too long");
    expect(said()).toEqual(["Sorry."]);
  });

  test("a turn that a newer one has ended is over here, calmly", async () => {
    const gateway = new ScriptedGateway({
      "inference/token": () => {
        throw new RpcError(-32003, "that turn is not open");
      },
    });
    const { runner, events } = stage(gateway, scriptedChat().chat);
    await play(runner, "hi", smallModel);
    expect(events).toContainEqual({ type: "notice:raised", tone: "danger", text: copy.superseded });
    expect(gateway.paramsOf("turns/end")).toHaveLength(0);
  });

  test("the end of the session ends the turn", async () => {
    const gateway = new ScriptedGateway({
      "tools/invoke": () => {
        throw new SessionOver("signedOut");
      },
    });
    const { runner, events } = stage(gateway, scriptedChat(LIST).chat);
    await play(runner, "list", smallModel);
    expect(events).toContainEqual({ type: "notice:raised", tone: "danger", text: copy.sessionOver });
    expect(events.at(-1)).toEqual({ type: "turn:ended", ending: "failed", label: "words" });
  });
});

describe("when asking a model goes wrong for good", () => {
  test.each([
    ["it refuses the request", [new ChatFailure("refused", "too long")], `${copy.modelRefused} (too long)`],
    [
      "it cannot be reached three times",
      Array.from({ length: 3 }, () => new ChatFailure("unreachable", "cut")),
      copy.modelSilent,
    ],
    ["no token is taken", Array.from({ length: 3 }, () => new ChatFailure("unauthorised", "no")), copy.modelSilent],
  ])("because %s, the turn ends calmly", async (_why, failures, words) => {
    const gateway = new ScriptedGateway();
    const { runner, events } = stage(gateway, scriptedChat(...failures).chat);
    await play(runner, "hi", largeModel);
    expect(events).toContainEqual({ type: "notice:raised", tone: "danger", text: words });
    expect(gateway.paramsOf("turns/end")).toHaveLength(1);
  });

  test("a connection that breaks while a token is asked for is tried again", async () => {
    let tries = 0;
    const gateway: ScriptedGateway = new ScriptedGateway({
      "inference/token": () => {
        if (++tries === 1) throw new ConnectionLost();
        return { token: "secret", endpoint: "/v1", provider: "sidecar", modelId: "m", expiresAt: "", revocable: true };
      },
    });
    const { runner, said } = stage(gateway, scriptedChat("Hello.").chat);
    await play(runner, "hi", largeModel);
    expect(said()).toEqual(["Hello."]);
  });
});

describe("what is said", () => {
  test("is stored again after a break, and where it cannot be the person hears of it", async () => {
    let tries = 0;
    const lost = new ScriptedGateway({
      "messages/append": () => {
        if (++tries === 1) throw new ConnectionLost();
        return {};
      },
    });
    const again = stage(lost, scriptedChat("Hello.").chat);
    await play(again.runner, "hi", largeModel);
    expect(tries).toBe(2);
    expect(again.events.map(({ type }) => type)).not.toContain("notice:raised");

    for (const failure of [new RpcError(-32000, "full"), new ConnectionLost()]) {
      const gateway = new ScriptedGateway({
        "messages/append": () => {
          throw failure;
        },
      });
      const { runner, events, said } = stage(gateway, scriptedChat("Hello.").chat);
      await play(runner, "hi", largeModel);
      expect(said()).toEqual(["Hello."]);
      expect(events.filter(({ type }) => type === "notice:raised")).toHaveLength(1);
      expect(events.at(-1)).toMatchObject({ ending: "answered" });
    }
  });

  test("ends the turn even where the gateway does not hear of its end", async () => {
    const gateway = new ScriptedGateway({
      "turns/end": () => {
        throw new ConnectionLost();
      },
    });
    const { runner, events } = stage(gateway, scriptedChat("Hello.").chat);
    await play(runner, "hi", largeModel);
    expect(events.at(-1)).toMatchObject({ type: "turn:ended", ending: "answered" });
    expect(runner.busy).toBe(false);
  });
});

describe("a snapshot that the gateway voids", () => {
  test("is replaced before anything else is sent under it", async () => {
    const gateway: ScriptedGateway = new ScriptedGateway({
      "tools/invoke": ({ call }: ToolRequest) => {
        runner.revoked("snp_other", "policyChanged");
        runner.revoked("snp_1", "policyChanged");
        return resultOf(call.id, ok("a.txt"));
      },
      "turns/refresh": () => ({ snapshot: snapshotOf("trn_1", 2) }),
    });
    const { runner, said } = stage(gateway, scriptedChat(LIST, "It holds a.txt.").chat);
    await play(runner, "list", smallModel);
    expect(gateway.paramsOf("turns/refresh")).toHaveLength(1);
    expect(said()).toEqual(["It holds a.txt."]);
  });

  test("means nothing where no turn is under way, and neither does a new connection or a stop", async () => {
    const gateway = new ScriptedGateway();
    const { runner, events } = stage(gateway, scriptedChat().chat);
    runner.revoked("snp_1", "policyChanged");
    runner.rebound(null);
    await runner.stop();
    expect(events).toEqual([]);
    expect(gateway.seen).toEqual([]);
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

/** Say something and see the turn through. False when it never began. */
async function play(runner: Runner, text: string, model: ModelInfo): Promise<boolean> {
  const begun = await runner.run(text, model);
  await begun?.finished;
  return begun !== null;
}

/** Let what was started go on until something holds. Bounded by the test's own time limit. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
