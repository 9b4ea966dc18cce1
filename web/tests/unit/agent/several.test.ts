import { describe, expect, test } from "vitest";
import { copy } from "../../../src/agent/copy.ts";
import type { Message, Observation } from "../../../src/agent/messages.ts";
import type { TurnRunner } from "../../../src/agent/runner.ts";
import type { ModelInfo } from "../../../src/protocol/generated.ts";
import { requirement } from "../../requirement.ts";
import {
  descriptor,
  gatewayGiving,
  type Line,
  ok,
  proposed,
  type ScriptedGateway,
  scriptedChat,
  smallModel,
  snapshotOf,
  stage,
  tools,
} from "./scripted.ts";

const chainedModel: ModelInfo = { ...smallModel, id: "sha256:chained", tier: "chained" };

const SAID = 'save "4.50" to costs.md and show me what is not old in reports/';
const PARTS = ['save "4.50" to costs.md', "show me what is not old in reports/"];
const SPLIT = JSON.stringify({ requestedActions: PARTS });
const WHOLE = JSON.stringify({ requestedActions: ["find bread and butter"] });
const SAVE = action("write_file", { path: "costs.md", content: "4.50" });
const LIST = action("list_directory", { path: "reports/" });

const withWriting = [
  ...tools,
  descriptor("write_file", {
    category: "write",
    permission: "consent",
    paramSchema: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" } },
      required: ["path", "content"],
      additionalProperties: false,
    },
  }),
];

const denied: Observation = {
  outcome: "deniedByUser",
  reason: "denied",
  content: "",
  trust: "trusted",
  truncated: false,
};
const broken: Observation = {
  outcome: "executionError",
  reason: "toolError",
  error: "the disk is full",
  content: "",
  trust: "trusted",
  truncated: false,
};

function action(tool: string, args: Record<string, unknown>): string {
  return JSON.stringify({ tool, arguments: args });
}

/** Say something to a model with these lines and tools with these results. */
async function play(said: string, lines: Line[], results: Observation[], model: ModelInfo = smallModel) {
  const gateway = gatewayGiving(...results);
  const { chat, requests } = scriptedChat(...lines);
  const scene = stage(withTools(gateway), chat);
  await see(scene.runner, said, model);
  return {
    ...scene,
    requests,
    calls: () => gateway.paramsOf("tools/invoke").map(({ call }) => [call.name, call.arguments]),
  };
}

/** The same gateway, which publishes a tool that writes too. */
function withTools(gateway: ScriptedGateway): ScriptedGateway {
  const call = gateway.call.bind(gateway);
  gateway.call = async (method, params, signal) => {
    const answer = await call(method, params, signal);
    if (method !== "turns/begin") return answer;
    return { snapshot: { ...snapshotOf("trn_1"), tools: withWriting } } as typeof answer;
  };
  return gateway;
}

async function see(runner: TurnRunner, said: string, model: ModelInfo): Promise<void> {
  await (await runner.run(said, model))?.finished;
}

describe("a message that asks for two things", () => {
  test("has them done in order, once each, each with its own words", async () => {
    requirement("004-19", "two actions are run in order, and the turn is labelled with both");
    requirement("004-01", "one message gives two actions");
    const { calls, said, events, requests } = await play(
      SAID,
      [SPLIT, SAVE, LIST, "It holds a.pdf."],
      [ok("written"), ok("a.pdf")],
    );
    expect(calls()).toEqual([
      ["write_file", { path: "costs.md", content: "4.50" }],
      ["list_directory", { path: "reports/" }],
    ]);
    expect(said()).toEqual(["Saved `costs.md`.", "It holds a.pdf."]);
    expect(requests).toHaveLength(4);
    expect(events.filter(({ type }) => type === "actions:split" || type === "action:begun")).toEqual([
      { type: "actions:split", actions: PARTS },
      { type: "action:begun", index: 0 },
      { type: "action:begun", index: 1 },
    ]);
    expect(events.at(-1)).toEqual({ type: "turn:ended", ending: "answered", label: "tool:write_file+list_directory" });
  });

  test("has each of them picked from its own words, after what was picked before", async () => {
    const { requests } = await play(SAID, [SPLIT, SAVE, LIST, "It holds a.pdf."], [ok("written"), ok("a.pdf")]);
    const asked = requests.map(({ messages }) => messages.slice(-3));
    expect(asked[1]?.at(-1)).toEqual({ role: "user", content: PARTS[0] });
    expect(asked[2]).toEqual([
      { role: "user", content: PARTS[0] },
      { role: "assistant", content: SAVE },
      { role: "user", content: PARTS[1] },
    ]);
    expect(asked[3]?.at(-1)?.content).toContain(`QUESTION: ${PARTS[1]}\n`);
    expect(JSON.stringify(requests[2]?.messages)).not.toContain("written");
  });

  test("is answered where one of them is only a question", async () => {
    const actions = ["thank you for that", "show me what is in reports/"];
    const { said, requests } = await play(
      actions.join(" and "),
      [JSON.stringify({ requestedActions: actions }), '{"answer":"You are welcome!"}', LIST, "It holds a.pdf."],
      [ok("a.pdf")],
    );
    expect(said()).toEqual(["You are welcome!", "It holds a.pdf."]);
    expect(requests[2]?.messages.slice(-3)).toEqual([
      { role: "user", content: actions[0] },
      { role: "assistant", content: '{"answer":"You are welcome!"}' },
      { role: "user", content: actions[1] },
    ]);
  });

  test("goes on after silence about the first, and names it as not done", async () => {
    const { said } = await play(SAID, [SPLIT, '{"answer":""}', LIST, "It holds a.pdf."], [ok("a.pdf")]);
    expect(said()).toEqual([`Not done: \`${PARTS[0]}\`.`, "It holds a.pdf."]);
  });

  test("goes on after the person's no to the first", async () => {
    const { said, calls } = await play(SAID, [SPLIT, SAVE, LIST, "It holds a.pdf."], [denied, ok("a.pdf")]);
    expect(said()).toEqual(["You said no, so `write_file` did not run.", "It holds a.pdf."]);
    expect(calls()).toHaveLength(2);
  });

  test("stops at what failed, and names what is not done", async () => {
    requirement("004-06", "a failure is said in the words of its outcome");
    const { said, calls } = await play(SAID, [SPLIT, SAVE], [broken]);
    expect(said()).toEqual([
      "`write_file` failed: the disk is full.\n\nNot done: `show me what is not old in reports/`.",
    ]);
    expect(calls()).toHaveLength(1);
  });

  test("keeps the first where the model has no call for the second", async () => {
    requirement("004-10", "what was done before a failure to parse stands");
    const { said, calls, events } = await play(SAID, [SPLIT, SAVE, "hm", "hm", "hm"], [ok("written")]);
    expect(said()).toEqual(["Saved `costs.md`.", `${copy.keptWork}\n\nNot done: \`${PARTS[1]}\`.`]);
    expect(calls()).toHaveLength(1);
    expect(JSON.stringify(events)).not.toContain("hm");
  });

  test("is asked to be said another way where the model has no call for the first", async () => {
    requirement("004-08", "no first action asks to rephrase");
    const { said, calls } = await play(SAID, [SPLIT, "hm", "hm", "hm"], []);
    expect(said()).toEqual([copy.rephrase]);
    expect(calls()).toEqual([]);
  });

  test("never has the first done twice, whatever the model picks for the second", async () => {
    const { said, calls } = await play(SAID, [SPLIT, SAVE, SAVE], [ok("written")]);
    expect(calls()).toHaveLength(1);
    expect(said().at(-1)).toContain(copy.keptWork);
  });

  test("may mend each call of its own", async () => {
    const wrong: Observation = { ...broken, outcome: "invalidArguments", reason: "schema", error: "/path: missing" };
    const { said, requests } = await play(
      SAID,
      [SPLIT, action("write_file", {}), SAVE, action("list_directory", {}), LIST, "It holds a.pdf."],
      [wrong, ok("written"), wrong, ok("a.pdf")],
    );
    expect(said()).toEqual(["Saved `costs.md`.", "It holds a.pdf."]);
    expect(requests[4]?.messages.at(-1)?.content).toContain("/path: missing");
  });

  test("is gone on with after a reload, from where it stood", async () => {
    const call = proposed("call_old", "write_file", { path: "costs.md", content: "4.50" });
    const messages: Message[] = [
      { role: "user", turnId: "trn_1", content: SAID },
      { role: "assistant", turnId: "trn_1", content: "", toolCalls: [call] },
      { role: "tool", turnId: "trn_1", call, result: ok("written") },
      { role: "assistant", turnId: "trn_1", content: "Saved `costs.md`.", toolCalls: [] },
    ];
    const gateway = gatewayGiving(ok("a.pdf"));
    const { runner, said, events } = stage(gateway, scriptedChat(SPLIT, LIST, "It holds a.pdf.").chat, { messages });
    await runner.resume({ ...snapshotOf("trn_1"), tools: withWriting }, smallModel);
    expect(gateway.paramsOf("tools/invoke").map((each) => each.call.name)).toEqual(["list_directory"]);
    expect(said()).toEqual(["It holds a.pdf."]);
    expect(events).toContainEqual({ type: "action:begun", index: 1 });
  });
});

describe("a turn that was left between its last words and its end", () => {
  const asked: Message = { role: "user", turnId: "trn_1", content: "hello" };
  const said: Message = { role: "assistant", turnId: "trn_1", content: "Hello.", toolCalls: [] };

  test.each([
    ["small", smallModel],
    ["chained", chainedModel],
  ])("is ended and nothing else, with a model of kind %s", async (_kind, model) => {
    const { chat, requests } = scriptedChat();
    const { runner, events } = stage(gatewayGiving(), chat, { messages: [asked, said] });
    await runner.resume(snapshotOf("trn_1"), model);
    expect(requests).toHaveLength(0);
    expect(events.map(({ type }) => type)).toEqual(["turn:resumed", "model:asked", "turn:ended"]);
  });
});

describe("a message that asks for one thing", () => {
  test("costs no request beyond the one that picks it", async () => {
    requirement("004-19", "a single action makes no extra request");
    requirement("004-12", "without a cue nothing is probed");
    const { requests } = await play('save "4.50" to costs.md', [SAVE], [ok("written")]);
    expect(requests).toHaveLength(1);
  });

  test("is taken whole where the model sees only one thing in it", async () => {
    const { requests, events } = await play(
      "find bread and butter",
      [WHOLE, action("list_directory", { path: "bread" }), "It holds rolls."],
      [ok("rolls")],
    );
    expect(requests[1]?.messages.at(-1)).toEqual({ role: "user", content: "find bread and butter" });
    expect(events.map(({ type }) => type)).not.toContain("actions:split");
  });

  test.each(["nonsense", '{"requestedActions": ["format the disk", "find bread"]}', '{"requestedActions": 7}'])(
    "is taken whole where the reply cannot be believed: %s",
    async (reply) => {
      const { requests } = await play("find bread and butter", [reply, '{"answer":"No."}'], []);
      expect(requests[1]?.messages.at(-1)?.content).toBe("find bread and butter");
    },
  );
});

describe("a model that only says what it would do", () => {
  const plan = '{"answer":"I will list the files."}';

  test("is told so, and its words are taken back", async () => {
    const { said, events, requests } = await play(
      "what is in reports/?",
      [plan, LIST, "It holds a.pdf."],
      [ok("a.pdf")],
    );
    expect(said()).toEqual(["It holds a.pdf."]);
    expect(events.map(({ type }) => type)).toContain("text:discarded");
    expect(requests[1]?.messages.slice(-2)).toEqual([
      { role: "assistant", content: plan },
      { role: "user", content: expect.stringContaining("Do it now") },
    ]);
  });

  test("is told so three times, and then the person is", async () => {
    const { said, requests } = await play("what is in reports/?", [plan, plan, plan, plan], []);
    expect(requests).toHaveLength(4);
    expect(said()).toEqual([copy.planned]);
  });

  test("is told so where it says it by the pseudo-tool", async () => {
    const { said } = await play(
      "what is in reports/?",
      [action("respond", { message: "Let me check the folder." }), LIST, "It holds a.pdf."],
      [ok("a.pdf")],
    );
    expect(said()).toEqual(["It holds a.pdf."]);
  });

  test("leaves what is done standing", async () => {
    const { said } = await play(SAID, [SPLIT, SAVE, plan, plan, plan, plan], [ok("written")]);
    expect(said().at(-1)).toContain(copy.keptWork);
  });
});
