// The loop as a whole, held to scenarios written by hand, which the tests of gateway/agent hold theirs to.
import { expect, test } from "vitest";
import prompts from "../../../../loop/prompts.json" with { type: "json" };
import type { Chat, ChatDelta, ChatRequest, CutReason } from "../../../src/agent/chat.ts";
import { ChatFailure, type ChatFailureKind } from "../../../src/agent/chat.ts";
import { copy } from "../../../src/agent/copy.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import type { Message, Observation } from "../../../src/agent/messages.ts";
import { TurnRunner } from "../../../src/agent/runner.ts";
import type { ModelInfo, ToolDescriptor, ToolRequest } from "../../../src/protocol/generated.ts";
import { resultOf, ScriptedGateway, snapshotOf, TODAY } from "./scripted.ts";
import { readVectors } from "./vectors.ts";

type Reply =
  | string
  | { readonly text?: string; readonly calls?: readonly [name: string, given: unknown][]; readonly cut?: CutReason }
  | { readonly fails: ChatFailureKind };

interface Expected {
  readonly asks?: string;
  readonly last?: string;
  readonly offers?: readonly string[];
  readonly may?: "answer";
  /** The tools that the reply may call, as far as the schema says. */
  readonly callable?: readonly string[];
  readonly room?: number;
  readonly shows?: readonly string[];
  readonly hides?: readonly string[];
  readonly replies?: Reply;
  readonly calls?: string;
  readonly gives?: string | Partial<Observation>;
  readonly says?: string;
  readonly notice?: string;
}

interface Scenario {
  readonly name: string;
  readonly model: string;
  readonly tools: string;
  readonly says: string;
  readonly history?: readonly Message[];
  readonly steps: readonly Expected[];
  readonly ends: string;
  readonly label: string;
}

interface WrittenTool {
  readonly needs: Record<string, string>;
  readonly takes?: Record<string, string>;
}

interface Scenarios {
  readonly models: Readonly<Record<string, ModelInfo>>;
  readonly tools: Readonly<Record<string, readonly WrittenTool[]>>;
  readonly cases: readonly Scenario[];
}

const files = [
  readVectors<Scenarios>("scenarios"),
  readVectors<Scenarios>("chained"),
  readVectors<Scenarios>("foreseen"),
];
const models = Object.assign({}, ...files.map((file) => file.models)) as Scenarios["models"];
const written = Object.assign({}, ...files.map((file) => file.tools)) as Scenarios["tools"];

const OPENINGS = {
  chained: prompts.chained.opening,
  action: prompts.action.opening,
  report: prompts.report.system,
  probe: prompts.probe.system,
  summary: prompts.compaction.system,
  native: prompts.native.system.join("\n"),
};

test.each(files.flatMap(({ cases }) => cases))("the loop does what the scenario says: $name", async (scenario) => {
  const trace = await play(scenario);
  for (const [place, expected] of scenario.steps.entries()) assertStep(trace.steps[place], expected);
  expect(trace.steps.slice(scenario.steps.length)).toEqual([]);
  expect(trace.ending).toEqual({ ends: scenario.ends, label: scenario.label });
});

/** A message of a history, with `word ×9` written out. */
function lengthen(message: Message): Message {
  if (message.role === "tool") return message;
  const [word = "", times] = message.content.split("×");
  return times === undefined ? message : { ...message, content: word.repeat(Number(times)) };
}

type Step = Record<string, unknown>;

/** What the loop did, as a scenario writes it. */
interface Trace {
  readonly steps: Step[];
  ending: Step;
}

async function play({ model, tools, says, history = [], steps }: Scenario): Promise<Trace> {
  const trace: Trace = { steps: [], ending: {} };
  const replies = steps.filter((step) => step.asks !== undefined).map((step) => step.replies as Reply);
  const results = steps.filter((step) => step.calls !== undefined).map((step) => observation(step.gives));
  const descriptors = (written[tools] ?? []).map(describe);
  const gateway = new ScriptedGateway({
    "turns/begin": () => ({ snapshot: { ...snapshotOf("trn_1"), tools: descriptors } }),
    "tools/invoke": ({ call }: ToolRequest) => {
      trace.steps.push({ calls: call.name, with: call.arguments });
      const result = results.shift();
      if (result === undefined) throw new Error("the scenario has no result for this call");
      return resultOf(call.id, result);
    },
  });
  let calls = 0;
  const runner = new TurnRunner(
    {
      gateway,
      chatWith: () => scripted(replies, trace),
      newCallId: () => `call_${++calls}`,
      wait: () => Promise.resolve(),
      today: () => TODAY,
      emit: noting(trace),
    },
    "cnv_1",
    history.map(lengthen),
  );
  const begun = await runner.run(says, models[model] as ModelInfo);
  await begun?.finished;
  return trace;
}

function assertStep(step: Step | undefined, expected: Expected): void {
  const { asks, last, room, offers, may, callable, shows = [], hides = [], replies, gives, ...rest } = expected;
  if (asks === undefined) {
    const named = (text: unknown) =>
      typeof text === "string" && text.startsWith("$") ? copy[text.slice(1) as keyof typeof copy] : text;
    expect(step).toEqual(Object.fromEntries(Object.entries(rest).map(([member, text]) => [member, named(text)])));
    return;
  }
  expect(step).toMatchObject({
    asks,
    ...(last !== undefined && { last }),
    ...(room !== undefined && { room }),
    ...(offers && { offers }),
    ...(may && { may }),
    ...(callable && { callable }),
  });
  for (const text of shows) expect(step?.messages).toContain(text);
  for (const text of hides) expect(step?.messages).not.toContain(text);
}

function noting(trace: Trace): (event: AgentEvent) => void {
  let streamed = "";
  return (event) => {
    switch (event.type) {
      case "text:streamed":
        streamed += event.delta;
        break;
      case "text:discarded":
        if (streamed !== "") trace.steps.push({ takesBack: streamed });
        streamed = "";
        break;
      case "assistant:said":
        trace.steps.push({ says: event.content });
        streamed = "";
        break;
      case "actions:split":
        trace.steps.push({ splits: event.actions });
        break;
      case "context:condensed":
        trace.steps.push({ condenses: true });
        break;
      case "context:filled":
        trace.steps.push({ fills: true });
        break;
      case "notice:raised":
        trace.steps.push({ notice: event.text });
        break;
      case "turn:ended":
        trace.ending = { ends: event.ending, label: event.label };
    }
  };
}

function scripted(replies: Reply[], { steps }: Trace): Chat {
  return async function* (request) {
    steps.push(describeRequest(request));
    const reply = replies.shift();
    if (reply === undefined) throw new Error("the scenario has no reply to this request");
    yield* deltasOf(reply);
  };
}

function describeRequest({ messages, maxTokens: room, tools, schema }: ChatRequest): Step {
  const contents = messages.map((each) => each.content);
  const system = contents[0] ?? "";
  const asks = Object.entries(OPENINGS).find(([, opening]) => system.startsWith(opening))?.[0];
  const named = system.split("\n").filter((line) => line.includes("(") && line.includes(" - "));
  const offers =
    asks === "action" || asks === "chained"
      ? named.map((line) => line.split("(")[0])
      : (tools ?? []).map((tool) => tool.function.name);
  const choices = (schema?.oneOf ?? []) as { properties: { tool?: { const: string } } }[];
  const callable = choices.flatMap(({ properties: { tool } }) => tool?.const ?? []);
  const may = choices.length === 1 ? "answer" : "call";
  return { asks, last: contents.at(-1), messages: contents.join("\n"), room, offers, may, callable };
}

function* deltasOf(reply: Reply): Iterable<ChatDelta> {
  if (typeof reply === "object" && "fails" in reply) throw new ChatFailure(reply.fails, "scripted");
  const isParts = typeof reply === "object" && ("calls" in reply || "cut" in reply);
  const {
    text = "",
    calls = [],
    cut,
  } = isParts ? reply : { text: typeof reply === "string" ? reply : JSON.stringify(reply) };
  for (const piece of text.match(/.{1,7}/gsu) ?? []) yield { kind: "text", text: piece };
  for (const [index, [name, given]] of calls.entries())
    yield { kind: "call", index, name, arguments: typeof given === "string" ? given : JSON.stringify(given) };
  if (cut !== undefined) yield { kind: "cut", why: cut };
}

/** A tool's descriptor, from what a scenario writes of it. */
function describe({ needs, takes = {}, ...tool }: WrittenTool): ToolDescriptor {
  const kinds = Object.entries({ ...needs, ...takes }).map(([name, type]) => [name, { type }]);
  const properties = Object.fromEntries(kinds);
  const paramSchema = { type: "object", properties, required: Object.keys(needs), additionalProperties: false };
  return { permission: "auto", ...tool, paramSchema } as unknown as ToolDescriptor;
}

function observation(gives: string | Partial<Observation> | undefined): Observation {
  if (typeof gives === "string") {
    const [word = "", times] = gives.split("×");
    return { outcome: "ok", content: word.repeat(Number(times ?? 1)), trust: "untrusted", truncated: false };
  }
  return { content: "", trust: "trusted", truncated: false, ...gives } as Observation;
}
