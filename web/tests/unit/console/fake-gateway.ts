import { createHash } from "node:crypto";
import { vi } from "vitest";
import { canonicalText } from "../../../src/features/console/approvals/challenge.ts";
import {
  type ConsoleClient,
  type ConsoleEnvironment,
  type HttpReply,
  wishIn,
} from "../../../src/features/console/console-environment.ts";
import type { ConsoleMethods, ConsoleNotifications } from "../../../src/protocol/contract.ts";
import type { Approval, ApprovalQuestion, Elicitation, StoppedView } from "../../../src/protocol/generated.ts";
import type { ConnectionState } from "../../../src/protocol/rpc.ts";
import { RpcError, SessionOver } from "../../../src/protocol/rpc.ts";

export const CONSOLE = "http://console.localhost:8765";
export const AGENT = "http://agent.localhost:8765";

const NO_TIME = { since: "2026-11-20T10:00:00.000Z", until: "2026-11-21T11:00:00.000Z" };

type Handlers = {
  [Method in keyof ConsoleMethods]?: (
    params: ConsoleMethods[Method]["params"],
  ) => ConsoleMethods[Method]["result"] | Promise<ConsoleMethods[Method]["result"]>;
};

/** A connection to a gateway that answers what a test tells it to, and remembers what it was asked. */
class FakeClient implements ConsoleClient {
  state: ConnectionState = { phase: "connecting" };
  readonly start = () =>
    this.become(this.#gateway.session ? { phase: "open" } : { phase: "ended", reason: "notSignedIn" });
  readonly retryNow = vi.fn();
  readonly #gateway: FakeGateway;
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Map<string, Set<(params: never) => void>>();

  constructor(gateway: FakeGateway) {
    this.#gateway = gateway;
  }

  stop(): void {
    this.become({ phase: "ended", reason: "stopped" });
  }

  become(state: ConnectionState): void {
    if (this.state.phase === "ended") return;
    this.state = state;
    for (const each of this.#watchers) each();
  }

  onState(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  on<Event extends keyof ConsoleNotifications>(
    event: Event,
    listener: (params: ConsoleNotifications[Event]) => void,
  ): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  notify<Event extends keyof ConsoleNotifications>(event: Event, params: ConsoleNotifications[Event]): void {
    for (const each of this.#listeners.get(event) ?? []) each(params as never);
  }

  async call<Method extends keyof ConsoleMethods & string>(
    method: Method,
    params: ConsoleMethods[Method]["params"],
  ): Promise<ConsoleMethods[Method]["result"]> {
    if (this.state.phase === "ended") throw new SessionOver(this.state.reason);
    return this.#gateway.answer(method, params);
  }
}

/** A gateway and a browser in memory. What a test does not set is a signed-in person with nothing stored. */
export class FakeGateway {
  session = true;
  profile: "operator" | "guest" | "auditor" = "operator";
  questions: ApprovalQuestion[] = [];
  stopped: StoppedView[] = [];
  elicitations: Elicitation[] = [];
  handlers: Handlers = {};
  replies: Record<string, (body: Readonly<Record<string, unknown>>) => HttpReply> = {};
  readonly calls: { readonly method: string; readonly params: unknown }[] = [];
  readonly posts: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[] = [];
  readonly clients: FakeClient[] = [];
  /** What the window's session storage holds. */
  readonly stored = new Map<string, string>();

  readonly environment = {
    origin: CONSOLE,
    host: "console.localhost",
    createClient: () => {
      const client = new FakeClient(this);
      this.clients.push(client);
      return client;
    },
    post: async (path: string, body: Readonly<Record<string, unknown>>) => {
      this.posts.push({ path, body });
      return this.replies[path]?.(body) ?? { status: 204, body: undefined };
    },
    createPasskey: vi.fn<ConsoleEnvironment["createPasskey"]>(async () => ({ id: "new" }) as never),
    askPasskey: vi.fn<ConsoleEnvironment["askPasskey"]>(async () => ({ id: "known" }) as never),
    fetchFile: vi.fn<ConsoleEnvironment["fetchFile"]>(),
    saveFile: vi.fn<ConsoleEnvironment["saveFile"]>(),
    readProblems: vi.fn<ConsoleEnvironment["readProblems"]>(async () => []),
    navigateTo: vi.fn<ConsoleEnvironment["navigateTo"]>(),
    shellWish: wishIn(
      {
        getItem: (name) => this.stored.get(name) ?? null,
        setItem: (name, value) => void this.stored.set(name, value),
        removeItem: (name) => void this.stored.delete(name),
      },
      Date.now,
    ),
  } satisfies ConsoleEnvironment;

  get client(): FakeClient {
    const client = this.clients.at(-1);
    if (client === undefined) throw new Error("no client was created");
    return client;
  }

  /** The parameters of every call of a method so far. */
  asked<Method extends keyof ConsoleMethods>(method: Method): ConsoleMethods[Method]["params"][] {
    return this.calls.filter((call) => call.method === method).map((call) => call.params as never);
  }

  async answer<Method extends keyof ConsoleMethods>(
    method: Method,
    params: ConsoleMethods[Method]["params"],
  ): Promise<ConsoleMethods[Method]["result"]> {
    this.calls.push({ method, params });
    const handler = { ...this.#defaults(), ...this.handlers }[method];
    if (handler === undefined) throw new Error(`no answer to ${method}`);
    return handler(params as never);
  }

  #defaults(): Handlers {
    return {
      "session/describe": () => ({
        session: {
          id: "cns_1",
          principal: "prn_1",
          principalName: "Nora",
          profile: this.profile,
          expiresAt: "2026-11-21T18:00:00.000Z",
        },
        connectionId: "con_1",
        agentOrigin: AGENT,
        at: new Date().toISOString(),
      }),
      "elicitations/list": () => ({ elicitations: this.elicitations }),
      "approvals/list": () => ({
        approvals: this.questions.map(({ approval }) => approval),
        stopped: this.stopped,
      }),
      "approvals/get": ({ approvalId }) => {
        const question = this.questions.find(({ approval }) => approval.id === approvalId);
        if (question === undefined) throw new RpcError(-32003, "unknown approval");
        return question;
      },
      "approvals/decide": ({ approvalId, decision }) => {
        const question = this.questions.find(({ approval }) => approval.id === approvalId);
        if (question === undefined) throw new RpcError(-32003, "that approval is not open");
        return { approval: { ...question.approval, status: decision === "approve" ? "approved" : "denied" } };
      },
      "grants/list": () => ({ grants: [] }),
      "grants/revoke": () => ({}),
      "clients/list": () => ({ clients: [] }),
      "clients/disconnect": () => ({}),
      "passkeys/list": () => ({ passkeys: [] }),
      "push/list": () => ({ configured: false, devices: [] }),
      "policy/describe": () => ({ version: "9f".repeat(32), rules: [], profiles: [], tools: [] }),
      "audit/list": () => ({ entries: [], size: 0 }),
      "audit/calls": () => ({ calls: [], unread: 0 }),
      "audit/count": () => ({ ...NO_TIME, stepMs: 3_600_000, total: 0, outcomes: [], buckets: [], unread: 0 }),
      "audit/choices": () => ({ people: [], tools: [], sources: [], models: [], rules: [], policyVersions: [] }),
      "audit/conversations": () => ({ conversations: [] }),
      "audit/load": () => ({ ...NO_TIME, people: [], tools: [], unread: 0 }),
      "audit/sinks": () => ({ sinks: [], anchors: [] }),
      "audit/models": () => ({ ...NO_TIME, models: [], unread: 0 }),
      "sources/list": () => ({ sources: [] }),
      "backups/list": () => ({ folder: "/srv/backups", backups: [] }),
      "sessions/list": () => ({ sessions: [] }),
      "secrets/list": () => ({ secrets: [] }),
    };
  }
}

/** A question as the gateway asks it: the statement, and an approval that says the same and announces its digest. */
export function ask(changes: Partial<Approval> = {}): ApprovalQuestion {
  const shown = {
    id: "apr_1",
    kind: "consent" as Approval["kind"],
    tool: "write_file",
    arguments: { path: "notes/new.txt", content: "hello" } as Approval["arguments"],
    conversationId: "cnv_1",
    turnId: "trn_1",
    callId: "call_1",
    expiresAt: "2026-11-21T10:05:00.000Z",
    ...changes,
  };
  const statement = {
    v: 1,
    approvalId: shown.id,
    nonce: "n0nce",
    kind: shown.kind,
    sessionId: "ses_1",
    principal: "prn_1",
    conversationId: shown.conversationId,
    turnId: shown.turnId,
    turnIndex: 0,
    callId: shown.callId,
    snapshotDigest: "a".repeat(64),
    descriptorDigest: "b".repeat(64),
    policyVersion: "c".repeat(64),
    tool: shown.tool,
    arguments: shown.arguments,
    issuedAt: "2026-11-21T10:00:00.000Z",
    expiresAt: shown.expiresAt,
  };
  const hash = createHash("sha256").update(canonicalText(statement));
  const digest = hash.copy().digest("hex");
  const approval: Approval = {
    status: "pending",
    summary: "Write 5 characters to notes/new.txt",
    effects: ["Creates notes/new.txt."],
    statementDigest: digest,
    requestedAt: "2026-11-21T10:00:00.000Z",
    needs: { presence: false, approvers: 1, requesterMayApprove: true },
    because: [{ id: "write-needs-consent", why: "Changing files needs a person." }],
    offers: shown.kind === "stepUp" ? ["once"] : ["once", "turn", "session"],
    ...shown,
  };
  const passkey = approval.kind === "stepUp" || approval.needs.presence;
  const challenge = passkey ? hash.digest("base64url") : `once-${shown.id}`;
  return {
    approval,
    statement,
    order: Object.keys(approval.arguments),
    ...(approval.status === "pending" && { challenge }),
    ...(passkey && { passkeyOptions: { challenge, rpId: "console.localhost", userVerification: "required" } }),
  };
}
