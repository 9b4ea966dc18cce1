import { describe, expect, test } from "vitest";
import { ChatFailure } from "../../../src/agent/chat.ts";
import { copy } from "../../../src/agent/copy.ts";
import type { Observation } from "../../../src/agent/messages.ts";
import type { ToolRequest } from "../../../src/protocol/generated.ts";
import { ConnectionLost, RpcError, SessionOver } from "../../../src/protocol/rpc.ts";
import { requirement } from "../../requirement.ts";
import {
  calls,
  largeModel,
  ok,
  play,
  resultOf,
  ScriptedGateway,
  scriptedChat,
  smallModel,
  snapshotOf,
  stage,
  until,
} from "./scripted.ts";

const LIST = '{"tool":"list_directory","arguments":{"path":"notes"}}';

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
    expect(events).toContainEqual({ type: "notice:raised", tone: "info", text: copy.elsewhere });
    expect(gateway.paramsOf("turns/end")).toHaveLength(0);
  });

  test("after a revoked snapshot a fresh one is asked for before anything else is sent", async () => {
    requirement("002-34", "a revoked snapshot is taken as final");
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
    expect(events).toContainEqual({ type: "notice:raised", tone: "danger", text: `${copy.noModel} (no model)` });
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

  test("what broke off stays to be read where asking again comes to nothing, and so does what came last of it", async () => {
    const breaking = (text: string) =>
      async function* broken() {
        if (text !== "") yield { kind: "text" as const, text };
        throw new ChatFailure("unreachable", "cut");
      };
    const lines = [breaking("It was a dark night"), breaking(""), breaking("")];
    const { runner, events } = stage(new ScriptedGateway(), scriptedChat(...lines).chat);
    await play(runner, "tell me a story", largeModel);
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type === "text:discarded")).toEqual([]);
    expect(events).toContainEqual({ type: "assistant:said", content: "It was a dark night", stopped: true });
    const second = stage(new ScriptedGateway(), scriptedChat(breaking("One"), breaking("Two"), breaking("")).chat);
    await play(second.runner, "tell me a story", largeModel);
    expect(second.events).toContainEqual({ type: "assistant:said", content: "Two", stopped: true });
  });

  test.each([
    [smallModel, '{"answer":"Ro', "neither here nor there", '{"answer":"Rome."}'],
    [largeModel, "Ro", "", "Rome."],
  ] as const)(
    "what broke off also outlasts a reply that cannot be read, %#",
    async (model, begun, unreadable, read) => {
      async function* broken() {
        yield { kind: "text" as const, text: begun };
        throw new ChatFailure("unreachable", "cut");
      }
      const { runner, events, said } = stage(new ScriptedGateway(), scriptedChat(broken, unreadable, read).chat);
      await play(runner, "capital of Italy?", model);
      expect(events.filter(({ type }) => type === "text:discarded")).toHaveLength(1);
      expect(said()).toEqual(["Rome."]);
    },
  );

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
    [
      "its server fails three times",
      Array.from({ length: 3 }, () => new ChatFailure("failed", "out of memory")),
      `${copy.modelFailed} (out of memory)`,
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
