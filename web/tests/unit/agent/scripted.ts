import type { Chat, ChatDelta, ChatRequest, CutReason } from "../../../src/agent/chat.ts";
import type { LoopDependencies } from "../../../src/agent/dependencies.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import type { Gateway } from "../../../src/agent/gateway.ts";
import type { LaneListener } from "../../../src/agent/lane.ts";
import type { Message, Observation } from "../../../src/agent/messages.ts";
import { TurnRunner } from "../../../src/agent/runner.ts";
import type { AgentMethods } from "../../../src/protocol/contract.ts";
import type {
  ModelInfo,
  ToolCall,
  ToolDescriptor,
  ToolRequest,
  ToolResult,
  TurnSnapshot,
} from "../../../src/protocol/generated.ts";

/** One reply of a scripted model: text in pieces, deltas, a failure, or something that waits for the signal. */
export type Line = string | readonly ChatDelta[] | Error | ((request: ChatRequest) => AsyncIterable<ChatDelta>);

/** A model that says its lines, one per request, and remembers what it was asked. */
export function scriptedChat(...lines: Line[]): { chat: Chat; requests: ChatRequest[] } {
  const requests: ChatRequest[] = [];
  const chat: Chat = async function* (request) {
    request.signal.throwIfAborted();
    requests.push(request);
    const line = lines[requests.length - 1];
    if (line === undefined) throw new Error(`the script has no line ${requests.length}`);
    if (line instanceof Error) throw line;
    if (typeof line === "function") yield* line(request);
    else if (typeof line === "string")
      for (const piece of line.match(/.{1,7}/gsu) ?? []) yield { kind: "text", text: piece };
    else yield* line;
  };
  return { chat, requests };
}

/** A reply that is one or more native tool calls. */
export function calls(...proposals: readonly [name: string, args: Record<string, unknown> | string][]): ChatDelta[] {
  return proposals.map(([name, args], index) => ({
    kind: "call",
    index,
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args),
  }));
}

export const TODAY = "2026-11-21";

/** What a lane is given beside the conversation, where a test says nothing else. */
export const plainInput = { actions: null, more: false, mayCall: true, maySummarise: true, today: TODAY } as const;

export const smallModel: ModelInfo = {
  id: "sha256:small",
  displayName: "Small",
  arch: "qwen2",
  backend: "local-cpu",
  contextTokens: 4096,
  licence: "Apache-2.0",
  local: true,
  outputTokens: 1024,
  quantisation: "q4_k_m",
  supportsTools: false,
};

export const largeModel: ModelInfo = { ...smallModel, id: "remote", supportsTools: true, contextTokens: 8192 };

export function descriptor(name: string, more: Partial<ToolDescriptor> = {}): ToolDescriptor {
  return {
    name,
    description: `The ${name} tool`,
    interfaceId: "workspace",
    methodName: name,
    category: "read",
    permission: "auto",
    source: "builtin",
    digest: "0".repeat(64),
    paramSchema: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
      additionalProperties: false,
    },
    ...more,
  };
}

export const tools: readonly ToolDescriptor[] = [
  descriptor("list_directory"),
  descriptor("read_file"),
  descriptor("delete_file", { category: "destructive", permission: "stepUp" }),
];

export function snapshotOf(turnId: string, number = 1): TurnSnapshot {
  return {
    id: `snp_${number}`,
    sessionId: "ses_1",
    connectionId: "con_1",
    conversationId: "cnv_1",
    turnId,
    turnIndex: 0,
    issuedAt: "2026-11-21T10:00:00.000Z",
    expiresAt: "2026-11-21T10:15:00.000Z",
    policyVersion: "1",
    tools: [...tools],
    digest: String(number).repeat(64).slice(0, 64),
  };
}

export function ok(content: string): Observation {
  return { outcome: "ok", content, trust: "untrusted", truncated: false };
}

export function resultOf(callId: string, observation: Observation): ToolResult {
  return {
    callId,
    labels: [],
    redactions: 0,
    durationMs: 1,
    replayed: false,
    auditSeq: 1,
    receiptId: "rcp_1",
    ...observation,
  };
}

type Handler = (params: never, signal?: AbortSignal) => unknown;

/** A gateway that records every call and answers from a table; methods without an entry answer `{}`. */
export class ScriptedGateway implements Gateway {
  readonly seen: { method: string; params: unknown }[] = [];
  readonly #handlers: Record<string, Handler>;
  #turns = 0;

  constructor(handlers: Partial<{ [K in keyof AgentMethods]: Handler }> = {}) {
    this.#handlers = {
      "turns/begin": () => ({ snapshot: snapshotOf(`trn_${++this.#turns}`) }),
      "inference/token": () => ({
        token: "secret",
        endpoint: "/v1",
        provider: "sidecar",
        modelId: "sha256:small",
        expiresAt: "2026-11-21T10:05:00.000Z",
        revocable: true,
      }),
      ...(handlers as Record<string, Handler>),
    };
  }

  async call<K extends keyof AgentMethods & string>(
    method: K,
    params: AgentMethods[K]["params"],
    signal?: AbortSignal,
  ): Promise<AgentMethods[K]["result"]> {
    signal?.throwIfAborted();
    this.seen.push({ method, params });
    const answer = await this.#handlers[method]?.(params as never, signal);
    return (answer ?? {}) as AgentMethods[K]["result"];
  }

  paramsOf<K extends keyof AgentMethods & string>(method: K): AgentMethods[K]["params"][] {
    return this.seen.filter((each) => each.method === method).map((each) => each.params as AgentMethods[K]["params"]);
  }
}

/** A gateway whose tools give these results, in order. */
export function gatewayGiving(...observations: Observation[]): ScriptedGateway {
  let next = 0;
  return new ScriptedGateway({
    "tools/invoke": (request: ToolRequest) => {
      const observation = observations[next++];
      if (observation === undefined) throw new Error("a call too many");
      return resultOf(request.call.id, observation);
    },
  });
}

/** A runner with everything scripted, and what it emitted. */
export function stage(
  gateway: Gateway,
  chat: Chat,
  more: Partial<LoopDependencies> & { messages?: Message[] } = {},
): { runner: TurnRunner; events: AgentEvent[]; said(): string[] } {
  const events: AgentEvent[] = [];
  let callCount = 0;
  const { messages = [], ...rest } = more;
  const runner = new TurnRunner(
    {
      gateway,
      chatWith: () => chat,
      newCallId: () => `call_${++callCount}`,
      wait: () => Promise.resolve(),
      today: () => TODAY,
      emit: (event) => events.push(event),
      ...rest,
    },
    "cnv_1",
    messages,
  );
  const said = () => events.flatMap((event) => (event.type === "assistant:said" ? [event.content] : []));
  return { runner, events, said };
}

export class SilentListener implements LaneListener {
  text = "";
  discards = 0;
  trims: number[] = [];
  cuts: CutReason[] = [];
  fills: [number, number][] = [];
  counts: [number, number, boolean][] = [];

  streamed(delta: string): void {
    this.text += delta;
  }
  discarded(): void {
    this.discards++;
    this.text = "";
  }
  counted(prompt: number, completion: number, exact: boolean): void {
    this.counts.push([prompt, completion, exact]);
  }
  filled(used: number, limit: number): void {
    this.fills.push([used, limit]);
  }
  trimmed(dropped: number): void {
    this.trims.push(dropped);
  }
  cut(why: CutReason): void {
    this.cuts.push(why);
  }
}

export function proposed(id: string, name: string, args: Record<string, unknown> = { path: "a" }): ToolCall {
  return { id, name, arguments: args };
}

/** Say something and see the turn through. False when it never began. */
export async function play(runner: TurnRunner, text: string, model: ModelInfo): Promise<boolean> {
  const begun = await runner.run(text, model);
  await begun?.finished;
  return begun !== null;
}

/** Let what was started go on until something holds. Bounded by the test's own time limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
