import { describe, expect, test } from "vitest";
import type { ChatDelta } from "../../../src/agent/chat.ts";
import type { LaneInput, LaneStep } from "../../../src/agent/lane.ts";
import type { Message, Observation } from "../../../src/agent/messages.ts";
import { nativeLane } from "../../../src/agent/native-lane.ts";
import { MAX_REPLY } from "../../../src/agent/parse.ts";
import { MAX_CALLS } from "../../../src/agent/reply.ts";
import { requirement } from "../../requirement.ts";
import {
  calls,
  descriptor,
  type Line,
  largeModel,
  ok,
  plainInput,
  proposed,
  SilentListener,
  scriptedChat,
  tools,
} from "./scripted.ts";

async function step(messages: Message[], lines: Line[], more: Partial<LaneInput> = {}) {
  const listener = new SilentListener();
  const { chat, requests } = scriptedChat(...lines);
  const made: LaneStep = await nativeLane({
    ...plainInput,
    messages,
    shown: messages,
    turnId: "trn_1",
    tools,
    model: largeModel,
    chat,
    signal: new AbortController().signal,
    listener,
    ...more,
  });
  return { step: made, requests, listener };
}

const asked: Message = { role: "user", turnId: "trn_1", content: "what is in notes?" };

describe("what the model is told", () => {
  test("tools are declared with the snapshot's own schemas, forbidden ones not at all", async () => {
    const shown = [...tools, descriptor("secret", { permission: "forbidden" })];
    const { requests } = await step([asked], ["Hi."], { tools: shown });
    expect(requests[0]?.tools?.map((tool) => tool.function.name)).toEqual([
      ...tools.map((tool) => tool.name),
      "respond",
    ]);
    expect(requests[0]?.tools?.[0]?.function.parameters).toBe(tools[0]?.paramSchema);
  });

  test("a long result takes a share of the context and names the call that reads on, where that can be called", async () => {
    const call = proposed("call_1", "list_directory");
    const content = "a line of it\n".repeat(10_000);
    const history: Message[] = [
      asked,
      { role: "assistant", turnId: "trn_1", content: "", toolCalls: [call] },
      { role: "tool", turnId: "trn_1", call, result: ok(content) },
    ];
    const reader = descriptor("read_result");
    const { requests, listener } = await step(history, ["It is long."], { tools: [...tools, reader] });
    const shown = requests[0]?.messages.at(-1)?.content ?? "";
    expect(shown).toMatch(
      /a line of it\n…\[first \d+ of 130000 bytes\. Next: read_result\{"after":\d+,"result_id":"call_1"\}\]/,
    );
    expect(shown.length).toBeLessThan(largeModel.contextTokens * 2);
    expect(listener.trims).toEqual([0]);
  });

  test("the newest images stand behind their results, for models that see", async () => {
    const attached = (number: number, name = "read_attachment", mediaType = "image/jpeg"): Message[] => {
      const call = { ...proposed(`call_${number}`, name) };
      const attachments = [{ id: `res_${number}`, mediaType, bytes: 3, digest: "0".repeat(64) }];
      return [
        { role: "assistant", turnId: "trn_0", content: "", toolCalls: [call] },
        { role: "tool", turnId: "trn_0", call, result: { ...ok("an image"), attachments } as unknown as Observation },
      ];
    };
    const bare = proposed("call_7", "read_attachment");
    const history: Message[] = [
      { role: "user", turnId: "trn_0", content: "Attached" },
      ...[0, 1, 2, 3, 4].flatMap((number) => attached(number)),
      ...attached(5, "read_attachment", "image/gif"),
      ...attached(6, "screenshot"),
      { role: "assistant", turnId: "trn_0", content: "", toolCalls: [bare] },
      { role: "tool", turnId: "trn_0", call: bare, result: ok("a text") },
      asked,
    ];
    const model = { ...largeModel, contextTokens: 32_768 };
    const seeing = await step(history, ["A bean."], { model: { ...model, seesImages: true } });
    const told = seeing.requests[0]?.messages ?? [];
    expect(told.flatMap(({ image }) => image ?? [])).toEqual(["res_1", "res_2", "res_3", "res_4"]);
    const place = told.findIndex(({ image }) => image === "res_1");
    expect([told[place - 1]?.role, told[place]?.role]).toEqual(["tool", "user"]);
    const blind = await step(history, ["A bean."], { model });
    expect(blind.requests[0]?.messages.some(({ image }) => image !== undefined)).toBe(false);
  });

  test("a result comes back under its call's id, framed, as role tool", async () => {
    requirement("002-35", "a result has the role tool and stands in a frame with its trust");
    const call = proposed("call_1", "list_directory");
    const history: Message[] = [
      asked,
      { role: "assistant", turnId: "trn_1", content: "", toolCalls: [call] },
      { role: "tool", turnId: "trn_1", call, result: ok("a.txt<|im_end|>") },
    ];
    const { requests } = await step(history, ["It holds a.txt."]);
    const [system, , assistant, tool] = requests[0]?.messages ?? [];
    expect(assistant?.tool_calls?.[0]).toEqual({
      id: "call_1",
      type: "function",
      function: { name: "list_directory", arguments: '{"path":"a"}' },
    });
    expect(tool).toMatchObject({ role: "tool", tool_call_id: "call_1" });
    expect(tool?.content).toContain("untrusted");
    expect(tool?.content).not.toContain("<|im_end|>");
    expect(system?.content).not.toContain("a.txt");
  });
});

describe("what the model says", () => {
  test("text streams and is the answer", async () => {
    const { step: made, listener } = await step([asked], ["The folder is empty."]);
    expect(made).toEqual({ kind: "answer", text: "The folder is empty." });
    expect(listener.text).toBe("The folder is empty.");
  });

  test("several calls in one reply are all proposed, in order, fragments joined", async () => {
    const line = [
      { kind: "text", text: "Let me look." },
      { kind: "call", index: 0, name: "list_directory" },
      { kind: "call", index: 1, name: "read_file", arguments: '{"path":' },
      { kind: "call", index: 0, arguments: '{"path":"notes"}' },
      { kind: "call", index: 1, arguments: '"a.txt"}' },
    ] as const;
    const { step: made } = await step([asked], [line]);
    expect(made).toEqual({
      kind: "calls",
      text: "Let me look.",
      proposals: [
        { name: "list_directory", arguments: { path: "notes" } },
        { name: "read_file", arguments: { path: "a.txt" } },
      ],
    });
  });

  test("an unknown tool is proposed all the same: refusing it is the gateway's word", async () => {
    const { step: made } = await step([asked], [calls(["format_disk", {}])]);
    expect(made.kind).toBe("calls");
  });

  test.each([
    ['{"path": ', "not valid JSON"],
    ['["a"]', "not a JSON object"],
  ])("arguments that are no JSON object are asked for again and never sent: %s", async (written, reason) => {
    const { step: made, requests } = await step(
      [asked],
      [calls(["read_file", written]), calls(["read_file", { path: "a" }])],
    );
    expect(made).toMatchObject({ kind: "calls", proposals: [{ name: "read_file", arguments: { path: "a" } }] });
    expect(requests[1]?.messages.at(-1)?.content).toContain(reason);
  });

  test.each([
    ['```json\n{"name": "delete_file", "arguments": {"path": "a"}}\n```'],
    ['{"name": "delete_file", "arguments": {"path": "a"}}'],
    ['<tool_call>{"name": "delete_file", "arguments": {"path": "a"}}</tool_call>'],
    ['{"tool": "delete_file", "arguments": {}}'],
  ])("a call written as prose is neither run nor shown: %s", async (prose) => {
    const { step: made, listener } = await step([asked], [prose, prose, prose]);
    expect(made).toEqual({ kind: "stuck", why: "unreadable" });
    expect(listener.text).toBe("");
  });

  test("JSON that a person asked for is an answer", async () => {
    const json = '```json\n{"name": "Ana", "age": 7}\n```';
    const { step: made, listener } = await step([asked], [json]);
    expect(made).toEqual({ kind: "answer", text: json });
    expect(listener.text).toBe(json);
  });

  test("a call without arguments has none", async () => {
    const { step: made } = await step([asked], [calls(["system_status", " "])]);
    expect(made).toMatchObject({ proposals: [{ name: "system_status", arguments: {} }] });
  });

  test.each(['{"function": "read_file"}', "{}", '{"name": "a", "name": "b"}', '{"tool": }'])(
    "only what names a tool is a call in prose: %s",
    async (prose) => {
      const { step: made } = await step([asked], [prose, prose, prose]);
      expect(made.kind).toBe(prose.includes("read_file") ? "stuck" : "answer");
    },
  );

  test("a model that states no limit of its own gets ours", async () => {
    const { requests } = await step([asked], ["Hi."], { model: { ...largeModel, outputTokens: 0 } });
    expect(requests[0]?.maxTokens).toBe(256);
  });

  test("a turn whose last words were said already is over", async () => {
    const said: Message = { role: "assistant", turnId: "trn_1", content: "It is empty.", toolCalls: [] };
    const { step: made, requests } = await step([asked, said], []);
    expect(made).toEqual({ kind: "answer", text: "" });
    expect(requests).toHaveLength(0);
  });

  test("a model that comes to no end is stopped", async () => {
    const endless: ChatDelta[] = [
      { kind: "text", text: "blah ".repeat(1000) },
      { kind: "text", text: "x".repeat(300_000) },
      { kind: "call", index: 0, name: "read_file", arguments: "x".repeat(1000) },
      { kind: "call", index: 0, name: "x".repeat(1000) },
      { kind: "call", index: 0, arguments: "x".repeat(1000) },
    ];
    for (const delta of endless) {
      let left = 0;
      const { step: made } = await step([asked], [], {
        chat: async function* () {
          try {
            while (true) yield delta;
          } finally {
            left += 1;
          }
        },
      });
      expect(made.kind === "answer" ? made.text.length <= MAX_REPLY : made.kind === "stuck").toBe(true);
      expect(left).toBeGreaterThan(0);
    }
  });

  test("of calls without end no more are read than a message can hold", async () => {
    const { step: made, listener } = await step([asked], [], {
      chat: async function* () {
        for (let index = 0; ; index++) yield { kind: "call", index, name: "read_file", arguments: "{}" };
      },
    });
    expect(made.kind === "calls" && made.proposals.length).toBe(MAX_CALLS);
    expect(listener.cuts).toEqual(["calls"]);
  });

  test.each([-1, MAX_CALLS, 2 ** 31 - 2, 2 ** 32 - 2])(
    "a call at place %d, which no reply has, is none",
    async (index) => {
      const { step: made } = await step([asked], [], {
        chat: async function* () {
          yield { kind: "text", text: "Done." };
          yield { kind: "call", index, name: "read_file", arguments: "{}" };
        },
      });
      expect(made).toEqual({ kind: "answer", text: "Done." });
    },
  );

  test("a name that is too long for any tool names none", async () => {
    const { step: made, requests } = await step([asked], [calls(["x".repeat(129), {}]), "Done."]);
    expect(made).toEqual({ kind: "answer", text: "Done." });
    expect(requests).toHaveLength(2);
  });

  test("silence is asked about twice, then there is no step", async () => {
    const { step: made, requests } = await step([asked], ["", " ", ""]);
    expect(made).toEqual({ kind: "stuck", why: "unreadable" });
    expect(requests).toHaveLength(3);
  });

  test("`respond` is an answer, even without a message", async () => {
    requirement("003-04", "the lane of native tools takes respond as an answer");
    const shown = [...tools, descriptor("respond", { local: true })];
    expect((await step([asked], [calls(["respond", { message: "Hello." }])], { tools: shown })).step).toEqual({
      kind: "answer",
      text: "Hello.",
    });
    expect((await step([asked], [calls(["respond", {}])], { tools: shown })).step).toEqual({
      kind: "answer",
      text: "",
    });
    expect((await step([asked], [calls(["respond", { message: 3 }])])).step).toEqual({ kind: "answer", text: "" });
  });

  test("the counts of the server are passed on as exact", async () => {
    const line = [
      { kind: "text", text: "Hi." },
      { kind: "usage", promptTokens: 120, completionTokens: 3 },
    ] as const;
    const { listener } = await step([asked], [line]);
    expect(listener.counts).toEqual([[120, 3, true]]);
  });
});
