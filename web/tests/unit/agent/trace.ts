import type { Chat, ChatDelta, ChatMessage, ChatRequest } from "../../../src/agent/chat.ts";
import { ChatFailure, type ChatFailureKind } from "../../../src/agent/chat.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { probePrompt } from "../../../src/agent/intents.ts";
import type { Message, Observation } from "../../../src/agent/messages.ts";
import { actionPrefix, reportPrompt } from "../../../src/agent/prompts.ts";
import { offered } from "../../../src/agent/respond.ts";
import { Runner } from "../../../src/agent/runner.ts";
import type { ModelInfo, ToolDescriptor, ToolRequest } from "../../../src/protocol/generated.ts";
import { resultOf, ScriptedGateway, snapshotOf, TODAY } from "./scripted.ts";

/** One reply of the scripted model, as tests/vectors/agent/runner.json writes it. */
type Reply =
  | string
  | {
      readonly text?: string;
      readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
      readonly usage?: { readonly promptTokens: number; readonly completionTokens: number };
    }
  | { readonly fails: ChatFailureKind; readonly state?: string };

export interface Case {
  readonly name: string;
  readonly model: string;
  readonly tools: string;
  readonly history?: readonly Message[];
  readonly says: string;
  readonly replies: readonly Reply[];
  readonly results: readonly Observation[];
  readonly trace: readonly unknown[];
}

export interface RunnerVectors {
  readonly models: Readonly<Record<string, ModelInfo>>;
  readonly tools: Readonly<Record<string, readonly ToolDescriptor[]>>;
  readonly cases: readonly Case[];
}

/** Members that name a connection, a page or a moment and say nothing about the loop. */
const NOISE = new Set(["conversationId", "turnId", "snapshotId", "snapshotDigest", "model", "tools", "tool"]);
/** What a browser asks for and an agent inside the gateway has no need of. */
const OUTSIDE = new Set(["inference/token", "session/describe"]);

/** Play one case and give what happened, in order: events, requests to the gateway, requests to the model. */
export async function play(each: Case, { models, tools: sets }: RunnerVectors): Promise<unknown[]> {
  const trace: unknown[] = [];
  const tools = sets[each.tools] ?? [];
  const model = models[each.model] as ModelInfo;
  const gateway = new Recorder(tools, each.results, trace);
  let calls = 0;
  const runner = new Runner(
    {
      gateway,
      chatWith: () => scripted(each.replies, tools, model, trace),
      newCallId: () => `call_${++calls}`,
      wait: () => Promise.resolve(),
      today: () => TODAY,
      emit: (event) => note(trace, event),
    },
    "cnv_1",
    each.history ?? [],
  );
  const begun = await runner.run(each.says, model);
  await begun?.finished;
  return withoutEstimates(JSON.parse(JSON.stringify(trace)) as object[]);
}

class Recorder extends ScriptedGateway {
  readonly #trace: unknown[];

  constructor(tools: readonly ToolDescriptor[], results: readonly Observation[], trace: unknown[]) {
    let next = 0;
    super({
      "turns/begin": () => ({ snapshot: { ...snapshotOf("trn_1"), tools: [...tools] } }),
      "tools/invoke": (request: ToolRequest) => {
        const observation = results[next++];
        if (observation === undefined) throw new Error(`the script has no result ${next}`);
        return resultOf(request.call.id, observation);
      },
    });
    this.#trace = trace;
  }

  override call: ScriptedGateway["call"] = (method, params, signal) => {
    if (!OUTSIDE.has(method)) this.#trace.push({ gateway: method, ...quiet(params) });
    return super.call(method, params, signal);
  };
}

function scripted(
  replies: readonly Reply[],
  tools: readonly ToolDescriptor[],
  model: ModelInfo,
  trace: unknown[],
): Chat {
  return async function* (request) {
    const number = trace.filter((entry) => "model" in (entry as object)).length;
    // A copy: a lane goes on writing on its prompt.
    trace.push({ model: structuredClone(describeRequest(request, tools, model.more === true)) });
    const reply = replies[number];
    if (reply === undefined) throw new Error(`the script has no reply ${number + 1}`);
    yield* speak(reply);
  };
}

function* speak(reply: Reply): Iterable<ChatDelta> {
  if (typeof reply !== "string" && "fails" in reply) throw new ChatFailure(reply.fails, "scripted", reply.state);
  const { text = "", calls = [], usage } = typeof reply === "string" ? { text: reply } : reply;
  for (const piece of text.match(/.{1,7}/gsu) ?? []) yield { kind: "text", text: piece };
  for (const [index, call] of calls.entries()) yield { kind: "call", index, ...call };
  if (usage) yield { kind: "usage", ...usage };
}

/** A request to the model: which of the fixed beginnings it has, and everything after that. */
function describeRequest(request: ChatRequest, tools: readonly ToolDescriptor[], more: boolean): unknown {
  const { messages, schema, tools: declared, maxTokens } = request;
  const [prefix, rest] = splitPrefix(messages, tools, more);
  return {
    prefix,
    messages: rest,
    ...(schema && { schema }),
    ...(declared && { tools: declared.map((each) => each.function.name) }),
    maxTokens,
  };
}

function splitPrefix(messages: readonly ChatMessage[], tools: readonly ToolDescriptor[], more: boolean) {
  const nothing = { role: "tool", turnId: "", call: { id: "", name: "", arguments: {} }, result: {} } as never;
  const beginnings = {
    action: actionPrefix(offered(tools), more),
    report: reportPrompt("", nothing, "").slice(0, -1),
    probe: probePrompt("").slice(0, -1),
  };
  for (const [name, beginning] of Object.entries(beginnings))
    if (JSON.stringify(messages.slice(0, beginning.length)) === JSON.stringify(beginning))
      return [name, messages.slice(beginning.length)] as const;
  return [null, messages] as const;
}

/** Estimated counts are left out: they follow the words of the prompts, which change with every measurement. */
function withoutEstimates(trace: readonly object[]): object[] {
  const isEstimate = (entry: object) =>
    "event" in entry &&
    (entry.event as AgentEvent).type === "tokens:counted" &&
    !(entry.event as { exact: boolean }).exact;
  const isEstimated = trace.some(isEstimate);
  return trace
    .filter((entry) => !isEstimate(entry))
    .map((entry) => ("usage" in entry && isEstimated ? { gateway: "turns/end" } : entry));
}

/** Pieces of one streamed text are one entry: where a runtime cuts them says nothing. */
function note(trace: unknown[], event: AgentEvent): void {
  const last = trace.at(-1) as { event?: AgentEvent } | undefined;
  if (event.type === "text:streamed" && last?.event?.type === "text:streamed")
    trace[trace.length - 1] = { event: { ...event, delta: last.event.delta + event.delta } };
  else trace.push({ event: quiet(event) });
}

function quiet(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !NOISE.has(name)));
}
