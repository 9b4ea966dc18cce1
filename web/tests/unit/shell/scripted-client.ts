import * as loop from "../../../src/features/shell/loop.ts";
import type { AgentClient, ShellEnvironment } from "../../../src/features/shell/shell-environment.ts";
import type { AgentMethods, AgentNotifications } from "../../../src/protocol/contract.ts";
import { type ConnectionState, RpcError } from "../../../src/protocol/rpc.ts";
import { smallModel, snapshotOf, tools } from "../agent/scripted.ts";

type Handler = (params: never, signal?: AbortSignal) => unknown;
type Handlers = Partial<{ [K in keyof AgentMethods]: Handler }>;

const at = "2026-11-21T10:00:00.000Z";

export function conversationOf(id: string, title = "A talk") {
  return {
    id,
    title,
    createdAt: at,
    updatedAt: at,
    turnCount: 0,
    messageCount: 0,
    tainted: false,
    label: "public" as const,
  };
}

export const description = {
  session: {
    id: "ses_1",
    principal: "pri_1",
    principalName: "Ada",
    profile: "operator" as const,
    labels: [],
    expiresAt: at,
  },
  connectionId: "con_1",
  limits: {
    callsPerDay: 1,
    callsPerSession: 1,
    callsPerTurn: 1,
    messageBytes: 1,
    messageDepth: 1,
    pendingApprovals: 1,
    requestsInFlight: 1,
  },
  models: [smallModel],
  consoleOrigin: "http://console.localhost:8765",
  at: "",
};

/** A connection to a gateway that answers from a table. Unknown methods fail the test. */
export class ScriptedClient implements AgentClient {
  state: ConnectionState = { phase: "open" };
  readonly seen: { method: string; params: unknown }[] = [];
  readonly #handlers: Record<string, Handler>;
  readonly #listeners = new Map<string, Set<(params: never) => void>>();
  readonly #stateListeners = new Set<() => void>();
  #rebind: Parameters<AgentClient["onRebind"]>[0] = null;

  constructor(handlers: Handlers = {}) {
    this.#handlers = {
      "session/describe": () => description,
      "conversations/list": () => ({ conversations: [conversationOf("cnv_1")] }),
      "conversations/open": ({ conversationId, title }: { conversationId?: string; title?: string }) => ({
        conversation: conversationOf(conversationId ?? "cnv_new", title ?? "A talk"),
        messages: [],
      }),
      "conversations/delete": () => ({}),
      "tools/list-calls": () => ({ calls: [] }),
      "tools/describe": () => ({ tools }),
      "turns/begin": () => ({ snapshot: snapshotOf("trn_1") }),
      "turns/end": () => ({}),
      "turns/cancel": () => ({ cancelled: [] }),
      "messages/append": () => ({ index: 0 }),
      "inference/token": () => ({
        token: "t",
        endpoint: "/v1",
        provider: "p",
        modelId: smallModel.id,
        expiresAt: at,
        revocable: true,
      }),
      ...(handlers as Record<string, Handler>),
    };
  }

  start(): void {
    this.become({ phase: "open" });
  }
  stop(): void {
    this.become({ phase: "ended", reason: "stopped" });
  }
  retryNow(): void {}

  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  onRebind(rebind: Parameters<AgentClient["onRebind"]>[0]): void {
    this.#rebind = rebind;
  }

  on<K extends keyof AgentNotifications>(method: K, listener: (params: AgentNotifications[K]) => void): () => void {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners);
    listeners.add(listener as never);
    return () => listeners.delete(listener as never);
  }

  readonly call = async <K extends keyof AgentMethods & string>(
    method: K,
    params: AgentMethods[K]["params"],
    signal?: AbortSignal,
  ): Promise<AgentMethods[K]["result"]> => {
    signal?.throwIfAborted();
    this.seen.push({ method, params });
    const handler = this.#handlers[method];
    if (handler === undefined) throw new RpcError(-32601, `no script for ${method}`);
    return (await handler(params as never, signal)) as AgentMethods[K]["result"];
  };

  // ── what a test does ──

  become(state: ConnectionState): void {
    this.state = state;
    for (const listener of this.#stateListeners) listener();
  }

  notify<K extends keyof AgentNotifications>(method: K, params: AgentNotifications[K]): void {
    for (const listener of this.#listeners.get(method) ?? []) listener(params as never);
  }

  async reconnect(): Promise<void> {
    await this.#rebind?.(this.call as never);
  }

  paramsOf(method: keyof AgentMethods): unknown[] {
    return this.seen.filter((each) => each.method === method).map((each) => each.params);
  }
}

/** A page with a scripted client: replies of the model by turns, no storage, no windows, no files. */
export function pageOf(client: ScriptedClient, replies: string[] = []) {
  const opened: string[] = [];
  const saved: { readonly name: string; readonly text: string }[] = [];
  const told: string[] = [];
  const rung: string[] = [];
  const kept = new Map<string, string>();
  const keptInTab = new Map<string, string>();
  const elsewhere = new Set<(name: string | null) => void>();
  const drafts = new Map<string | null, string>();
  let address: string | null = null;
  const addressListeners = new Set<() => void>();
  let callCount = 0;
  const environment: ShellEnvironment = {
    createClient: () => client,
    loadLoop: async () => loop,
    whenIdle: () => undefined,
    fetch: async () => {
      const reply = replies.shift() ?? "";
      const events = [{ choices: [{ delta: { content: reply } }] }]
        .map((each) => `data: ${JSON.stringify(each)}\n\n`)
        .join("");
      return { ok: true, status: 200, text: async () => "", body: streamOf(`${events}data: [DONE]\n\n`) };
    },
    // Long waits are for what may never come; a test that is about them brings its own.
    wait: (ms) => (ms < 3_000 ? Promise.resolve() : new Promise(() => undefined)),
    now: () => 0,
    today: () => "2026-11-21",
    newCallId: () => `call_${++callCount}`,
    signOut: async () => {
      client.seen.push({ method: "POST /logout", params: {} });
    },
    nextFrame: (paint) => paint(),
    openConsole: (url) => opened.push(url),
    shrinkImage: async (name, bytes, most) =>
      bytes.length > most ? `${name} is too large.` : { bytes: bytes.slice(0, 3), mediaType: "image/jpeg" },
    saveFile: (name, text) => saved.push({ name, text }),
    signInFailed: false,
    beginsAtOnce: false,
    signIn: () => {
      client.seen.push({ method: "GET /login", params: {} });
    },
    address: {
      read: () => address,
      write: (id) => {
        address = id;
      },
      onChange: (listener) => {
        addressListeners.add(listener);
        return () => addressListeners.delete(listener);
      },
    },
    notifier: {
      isUndecided: () => false,
      allow: async () => undefined,
      decline: () => undefined,
      tell: (approval) => told.push(approval.id),
    },
    ring: (name) => void rung.push(name),
    kept: { read: (name) => kept.get(name) ?? "", write: (name, text) => void kept.set(name, text) },
    onKeptElsewhere: (listener) => {
      elsewhere.add(listener);
      return () => elsewhere.delete(listener);
    },
    keptInTab: {
      read: (name) => keptInTab.get(name) ?? "",
      write: (name, text) => void keptInTab.set(name, text),
    },
    drafts: { read: (id) => drafts.get(id) ?? "", write: (id, text) => void drafts.set(id, text) },
  };
  return {
    environment,
    opened,
    saved,
    told,
    rung,
    goTo: (id: string | null) => {
      address = id;
      for (const listener of addressListeners) listener();
    },
    address: () => address,
    /** Another page keeps this. */
    keepElsewhere: (name: string, text: string) => {
      kept.set(name, text);
      for (const listener of elsewhere) listener(name);
    },
  };
}

function streamOf(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

/** Stands for the browser's observer of sizes: jsdom lays nothing out, so nothing ever changes its size. */
export class NoResizes implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
