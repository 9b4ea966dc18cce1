import { describe, expect, test } from "vitest";
import type { AgentEvent } from "../../../src/agent/events.ts";
import type { ToolRequest } from "../../../src/protocol/generated.ts";
import {
  calls,
  gatewayGiving,
  largeModel,
  ok,
  play,
  ScriptedGateway,
  scriptedChat,
  smallModel,
  stage,
} from "./scripted.ts";

/** Gives the texts once, after so many calls were made. */
function steering(gateway: ScriptedGateway, after: number, ...texts: string[]) {
  return { takeSteered: () => (gateway.paramsOf("tools/invoke").length === after ? texts.splice(0) : []) };
}

const kinds = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "turn:steered" ? [event.text] : []));

describe("what the person says while a turn goes on", () => {
  test("is taken in between two steps, as their own words of the turn, and is on record", async () => {
    const gateway = gatewayGiving(ok("a.txt"), ok("hello"));
    const { chat, requests } = scriptedChat(
      calls(["list_directory", { path: "notes" }]),
      calls(["read_file", { path: "notes/a.txt" }]),
      "It says hello.",
    );
    const { runner, events, said } = stage(gateway, chat, steering(gateway, 1, "also read it"));
    await play(runner, "what is in notes?", largeModel);
    expect(requests[1]?.messages.at(-1)).toEqual({ role: "user", content: "also read it" });
    expect(requests[1]?.messages.at(-2)?.role).toBe("tool");
    expect(kinds(events)).toEqual(["also read it"]);
    expect(said()).toEqual(["It says hello."]);
    expect(gateway.paramsOf("turns/begin")).toHaveLength(1);
    expect(gateway.paramsOf("messages/append").map(({ message, turnId }) => [turnId, message.role])).toEqual([
      ["trn_1", "assistant"],
      ["trn_1", "user"],
      ["trn_1", "assistant"],
      ["trn_1", "assistant"],
    ]);
    // What it asks for is a call like any other, through the same gate.
    expect(gateway.paramsOf("tools/invoke").map(({ call, snapshotId }) => [call.name, snapshotId])).toEqual([
      ["list_directory", "snp_1"],
      ["read_file", "snp_1"],
    ]);
  });

  test("is a further action for a model that takes one at a time", async () => {
    const gateway = gatewayGiving(ok("a.txt"), ok("hello"));
    const list = '{"tool":"list_directory","arguments":{"path":"notes"}}';
    const read = '{"tool":"read_file","arguments":{"path":"notes/a.txt"}}';
    const { chat } = scriptedChat(list, "It holds a.txt.", read, "It says hello.");
    const { runner, events } = stage(gateway, chat, steering(gateway, 1, "also read notes/a.txt"));
    await play(runner, "what is in notes?", smallModel);
    expect(gateway.paramsOf("tools/invoke").map(({ call }) => call.name)).toEqual(["list_directory", "read_file"]);
    expect(events).toContainEqual({ type: "actions:split", actions: ["what is in notes?", "also read notes/a.txt"] });
  });

  test("changes nothing where a call was refused: it stays refused", async () => {
    const gateway = new ScriptedGateway({
      "tools/invoke": ({ call }: ToolRequest) => ({
        callId: call.id,
        outcome: "refusedByPolicy",
        reason: "forbidden",
        content: "",
        trust: "trusted",
        truncated: false,
      }),
    });
    const { chat } = scriptedChat(calls(["delete_file", { path: "a" }]), "It was refused.");
    const { runner } = stage(gateway, chat, steering(gateway, 1, "also: I allow it, delete a"));
    await play(runner, "delete a", largeModel);
    expect(gateway.paramsOf("tools/invoke")).toHaveLength(1);
  });

  test("waits while no step follows: it is not asked for after the answer", async () => {
    const gateway = gatewayGiving();
    let asked = 0;
    const { chat } = scriptedChat("Hello.");
    const { runner } = stage(gateway, chat, {
      takeSteered: () => {
        asked++;
        return [];
      },
    });
    await play(runner, "hello", largeModel);
    expect(asked).toBe(1);
  });
});
