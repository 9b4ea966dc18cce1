import { endsSession, MAX_MESSAGE_BYTES, RENEWED, RpcCode, SUBPROTOCOL } from "./codes.ts";

/** The part of a WebSocket that is used, so that a test can replace it. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  readonly readyState: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

/** What a contract looks like to the compiler: method name to parameters and result. */
export type MethodMap = Record<string, { params: unknown; result: unknown }>;
/** Notification name to parameters. */
export type NotificationMap = Record<string, unknown>;

/** Why there is no socket for now: nobody answers, or this browser has as many open as the gateway allows. */
export type SocketRefusal = "unreachable" | "crowded";

export type ConnectionState =
  | { phase: "connecting" }
  | { phase: "open" }
  /** `attempt` counts from 1; the next try is made after `retryInMs`. */
  | { phase: "lost"; attempt: number; retryInMs: number; cause: SocketRefusal }
  /** Over: nothing is retried. `reason` is the gateway's word, or `notSignedIn`. */
  | { phase: "ended"; reason: string };

export interface RpcOptions {
  openSocket(subprotocol: string): Socket;
  /** Resolves after `ms`; rejects when the signal aborts. */
  delay(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 to 1; spreads the reconnects of many tabs after a restart. */
  random(): number;
  /** Asked when a socket does not open, for a browser cannot see why. `refused`: this browser is not signed in. */
  probe(): Promise<"refused" | SocketRefusal>;
}

/** The gateway's own answer that something about the request was wrong. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  /** The stable code word of the error, beside its number. */
  readonly word: string | undefined;

  constructor(code: number, message: string, word?: string) {
    super(message);
    this.code = code;
    this.word = word;
  }
}

/** The socket went away before the answer came. Whether the request arrived is unknown. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** The session has ended; a new sign-in is needed. */
export class SessionOver extends Error {
  override readonly name = "SessionOver";
}

/** `WebSocket.OPEN`. What is sent on a socket that is about to close goes nowhere. */
const OPEN = 1;

const FIRST_RETRY_MS = 250;
/** Well inside the gateway's 30 s of grace for a lost connection. */
const LAST_RETRY_MS = 5_000;

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type Rebind<M extends MethodMap> = (call: RpcConnection<M, NotificationMap>["callNow"]) => Promise<void>;

/**
 * JSON-RPC 2.0 over one WebSocket at a time, which is replaced when it is lost.
 *
 * A request made while there is no socket waits for the next one; a request that was under way when a socket went down
 * fails with `ConnectionLost`, for only its maker knows whether asking again is safe. After each reconnect `rebind` runs
 * before anything that waited, so that the open turn belongs to the new connection first.
 */
export class RpcConnection<M extends MethodMap, N extends NotificationMap> {
  readonly #options: RpcOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Map<keyof N, Set<(params: never) => void>>();
  readonly #stateListeners = new Set<() => void>();
  readonly #stopped = new AbortController();
  #state: ConnectionState = { phase: "connecting" };
  #socket: Socket | null = null;
  #nextId = 1;
  #waiting: Array<{ go(): void; fail(error: Error): void }> = [];
  #wake: AbortController | null = null;
  #rebind: Rebind<M> | null = null;

  constructor(options: RpcOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Connect, and stay connected until `stop` or the end of the session. */
  start(): void {
    this.#connect(0);
  }

  /** Close for good. */
  stop(): void {
    this.#end("stopped");
  }

  /** Do not wait out the back-off: the network is back, or the person looks at the page again. */
  retryNow(): void {
    this.#wake?.abort();
  }

  /** What to do on every new connection before any request that waited for it. */
  onRebind(rebind: Rebind<M> | null): void {
    this.#rebind = rebind;
  }

  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  on<K extends keyof N>(method: K, listener: (params: N[K]) => void): () => void {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Ask, as soon as there is a connection. Rejects with `RpcError`, `ConnectionLost`, `SessionOver` or the signal's reason. */
  async call<K extends keyof M & string>(
    method: K,
    params: M[K]["params"],
    signal?: AbortSignal,
  ): Promise<M[K]["result"]> {
    signal?.throwIfAborted();
    if (this.#state.phase !== "open" || this.#socket?.readyState !== OPEN) await this.#untilOpen(signal);
    return this.callNow(method, params, signal);
  }

  /** Ask on the present socket, even while it is being re-bound. */
  readonly callNow = <K extends keyof M & string>(
    method: K,
    params: M[K]["params"],
    signal?: AbortSignal,
  ): Promise<M[K]["result"]> =>
    new Promise((resolve, reject) => {
      const socket = this.#socket;
      if (socket?.readyState !== OPEN) {
        reject(this.#state.phase === "ended" ? new SessionOver(this.#state.reason) : new ConnectionLost());
        return;
      }
      const id = this.#nextId++;
      const message = JSON.stringify({ jsonrpc: "2.0", id, method, params: params ?? {} });
      if (isTooLong(message)) {
        reject(new RpcError(RpcCode.invalidParams, "the message is too long"));
        return;
      }
      const forget = () => {
        this.#pending.delete(id);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", forget, { once: true });
      const stopListening = () => signal?.removeEventListener("abort", forget);
      this.#pending.set(id, {
        resolve: (result) => {
          stopListening();
          resolve(result as M[K]["result"]);
        },
        reject: (error) => {
          stopListening();
          reject(error);
        },
      });
      socket.send(message);
    });

  #connect(attempt: number): void {
    if (this.#state.phase === "ended") return;
    let opened = false;
    const socket = this.#options.openSocket(SUBPROTOCOL);
    socket.onopen = () => {
      opened = true;
      this.#socket = socket;
      void this.#greet(socket);
    };
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = (event) => {
      socket.onopen = socket.onmessage = socket.onclose = null;
      if (this.#state.phase === "ended") return;
      this.#drop();
      if (endsSession(event.code, event.reason)) this.#end(event.reason || "sessionEnded");
      else void this.#retry(opened ? 0 : attempt, opened);
    };
  }

  async #greet(socket: Socket): Promise<void> {
    try {
      await this.#rebind?.(this.callNow);
    } catch (error) {
      // Lost again: its own close handler goes on. Refused: the page shows what it has, and the next call says why.
      if (error instanceof ConnectionLost || error instanceof SessionOver) return;
    }
    if (this.#socket !== socket) return;
    this.#setState({ phase: "open" });
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const caller of waiting) caller.go();
  }

  async #retry(attempt: number, opened: boolean): Promise<void> {
    const cause = opened ? "unreachable" : await this.#options.probe();
    if (cause === "refused") {
      this.#end("notSignedIn");
      return;
    }
    const backOff = Math.min(FIRST_RETRY_MS * 2 ** attempt, LAST_RETRY_MS);
    const retryInMs = Math.round(backOff * (0.5 + this.#options.random() / 2));
    this.#setState({ phase: "lost", attempt: attempt + 1, retryInMs, cause });
    this.#wake = new AbortController();
    try {
      await this.#options.delay(retryInMs, AbortSignal.any([this.#wake.signal, this.#stopped.signal]));
    } catch {
      // Woken early; `#connect` looks whether it was to stop.
    }
    this.#connect(attempt + 1);
  }

  #receive(data: unknown): void {
    const message = readMessage(data);
    if (message === null) return;
    if ("method" in message) {
      if (message.method === "session/ended") {
        const reason = reasonOf(message.params);
        // The close that follows brings the next socket, with the new cookie.
        if (reason === RENEWED) return;
        this.#publish(message.method, message.params);
        this.#end(reason);
        return;
      }
      this.#publish(message.method, message.params);
      return;
    }
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    this.#pending.delete(message.id);
    if (message.error === undefined) {
      pending.resolve(message.result);
      return;
    }
    pending.reject(new RpcError(message.error.code, message.error.message, message.error.data?.code));
    if (message.error.code === RpcCode.notSignedIn) this.#end("notSignedIn");
  }

  #publish(method: string, params: unknown): void {
    for (const listener of this.#listeners.get(method) ?? []) listener(params as never);
  }

  #drop(): void {
    this.#socket = null;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const each of pending) each.reject(new ConnectionLost());
  }

  #end(reason: string): void {
    if (this.#state.phase === "ended") return;
    const socket = this.#socket;
    this.#setState({ phase: "ended", reason });
    this.#stopped.abort();
    this.#drop();
    socket?.close(1000);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const caller of waiting) caller.fail(new SessionOver(reason));
  }

  #untilOpen(signal?: AbortSignal): Promise<void> {
    if (this.#state.phase === "ended") return Promise.reject(new SessionOver(this.#state.reason));
    return new Promise((resolve, reject) => {
      const caller = { go: resolve, fail: reject };
      this.#waiting.push(caller);
      signal?.addEventListener(
        "abort",
        () => {
          this.#waiting = this.#waiting.filter((each) => each !== caller);
          reject(signal.reason);
        },
        { once: true },
      );
    });
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    for (const listener of this.#stateListeners) listener();
  }
}

/** Refused here, for the gateway would close the socket on it. */
function isTooLong(message: string): boolean {
  return message.length * 3 > MAX_MESSAGE_BYTES && new TextEncoder().encode(message).length > MAX_MESSAGE_BYTES;
}

type Incoming =
  | { method: string; params: unknown }
  | { id: number; result?: unknown; error?: { code: number; message: string; data?: { code: string } } };

/** The gateway and this page are one build, so a message is trusted to have its shape; noise is passed over. */
function readMessage(data: unknown): Incoming | null {
  if (typeof data !== "string") return null;
  try {
    const parsed: unknown = JSON.parse(data);
    if (typeof parsed !== "object" || parsed === null) return null;
    if ("method" in parsed && typeof parsed.method === "string") return parsed as Incoming;
    return "id" in parsed && typeof parsed.id === "number" ? (parsed as Incoming) : null;
  } catch {
    return null;
  }
}

function reasonOf(params: unknown): string {
  const known = typeof params === "object" && params !== null && "reason" in params ? params.reason : undefined;
  return typeof known === "string" ? known : "sessionEnded";
}
