import { expect, test, vi } from "vitest";
import {
  ConnectionLost,
  type ConnectionState,
  RpcConnection,
  RpcError,
  type RpcOptions,
  SessionOver,
  type Socket,
} from "../../../src/protocol/rpc.ts";

type Methods = {
  add: { params: { a: number; b: number }; result: number };
  open: { params: Record<string, never>; result: string };
};
type Notifications = { ping: { n: number }; "session/ended": { reason: string } };

class ScriptedSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  readonly sent: { id: number; method: string; params: unknown }[] = [];
  closedWith: number | undefined;
  /** As of a WebSocket: 1 is open, 2 is closing. */
  readyState = 1;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(code?: number): void {
    this.closedWith = code;
  }
  receive(message: unknown): void {
    this.onmessage?.({ data: typeof message === "string" ? message : JSON.stringify(message) });
  }
  answer(result: unknown, place = -1): void {
    this.receive({ jsonrpc: "2.0", id: this.sent.at(place)?.id, result });
  }
  drop(code = 1006, reason = ""): void {
    this.onclose?.({ code, reason });
  }
}

function stage(more: Partial<RpcOptions> = {}) {
  const sockets: ScriptedSocket[] = [];
  const waits: number[] = [];
  const connection = new RpcConnection<Methods, Notifications>({
    openSocket: () => {
      const socket = new ScriptedSocket();
      sockets.push(socket);
      return socket;
    },
    delay: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
    random: () => 1,
    probe: () => Promise.resolve("unreachable"),
    ...more,
  });
  connection.start();
  const socket = (place: number): ScriptedSocket => {
    const found = sockets[place];
    if (found === undefined) throw new Error(`no socket ${place}`);
    return found;
  };
  return { connection, sockets, socket, waits };
}

/** Let promises that are already resolved run on. */
async function flush(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

test("an answer finds its request, whatever the order", async () => {
  const { connection, socket } = stage();
  socket(0).onopen?.();
  await flush();
  const first = connection.call("add", { a: 1, b: 2 });
  const second = connection.call("add", { a: 3, b: 4 });
  await flush();
  socket(0).answer(7, 1);
  socket(0).answer(3, 0);
  expect(await Promise.all([first, second])).toEqual([3, 7]);
});

test("a request made before there is a connection waits for it", async () => {
  const { connection, socket } = stage();
  const sum = connection.call("add", { a: 1, b: 2 });
  expect(socket(0).sent).toHaveLength(0);
  socket(0).onopen?.();
  await flush();
  socket(0).answer(3);
  expect(await sum).toBe(3);
});

test("a request made while the socket is about to close waits for the next one", async () => {
  const { connection, socket } = stage();
  socket(0).onopen?.();
  await flush();
  socket(0).readyState = 2;
  const sum = connection.call("add", { a: 1, b: 2 });
  await expect(connection.callNow("add", { a: 1, b: 2 })).rejects.toBeInstanceOf(ConnectionLost);
  expect(socket(0).sent).toHaveLength(0);
  socket(0).drop();
  await flush();
  socket(1).onopen?.();
  await flush();
  socket(1).answer(3);
  expect(await sum).toBe(3);
});

test("an error keeps its code and message", async () => {
  const { connection, socket } = stage();
  socket(0).onopen?.();
  await flush();
  const sum = connection.call("add", { a: 1, b: 2 });
  await flush();
  socket(0).receive({ jsonrpc: "2.0", id: 1, error: { code: -32003, message: "unknown conversation" } });
  await expect(sum).rejects.toEqual(new RpcError(-32003, "unknown conversation"));
  expect(connection.state.phase).toBe("open");
});

test("a lost connection fails what was under way, and comes back with growing pauses", async () => {
  const { connection, sockets, socket, waits } = stage();
  socket(0).onopen?.();
  await flush();
  const sum = connection.call("add", { a: 1, b: 2 });
  await flush();
  socket(0).drop();
  await expect(sum).rejects.toBeInstanceOf(ConnectionLost);
  for (let attempt = 1; attempt <= 8; attempt++) {
    await flush();
    socket(attempt).drop();
  }
  await flush();
  expect(sockets.length).toBe(10);
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000, 5000]);
});

test("after a reconnect the re-bind runs before anything that waited", async () => {
  const { connection, socket } = stage();
  const order: string[] = [];
  connection.onRebind(async (call) => {
    order.push(`rebind ${await call("open", {})}`);
  });
  const sum = connection.call("add", { a: 1, b: 2 }).then((result) => order.push(`sum ${result}`));
  socket(0).onopen?.();
  await flush();
  expect(socket(0).sent.map(({ method }) => method)).toEqual(["open"]);
  socket(0).answer("turn");
  await flush();
  expect(socket(0).sent.map(({ method }) => method)).toEqual(["open", "add"]);
  socket(0).answer(3);
  await sum;
  expect(order).toEqual(["rebind turn", "sum 3"]);
});

test("a re-bind that is refused does not hold up the connection", async () => {
  const { connection, socket } = stage();
  connection.onRebind(async (call) => void (await call("open", {})));
  socket(0).onopen?.();
  await flush();
  socket(0).receive({ jsonrpc: "2.0", id: 1, error: { code: -32003, message: "gone" } });
  await flush();
  expect(connection.state.phase).toBe("open");
});

test.each([
  ["a close code that says so", (socket: ScriptedSocket) => socket.drop(4403, "signedOut")],
  [
    "the notification",
    (socket: ScriptedSocket) =>
      socket.receive({ jsonrpc: "2.0", method: "session/ended", params: { reason: "signedOut" } }),
  ],
])("the session's end is final: %s", async (_name, end) => {
  const { connection, sockets, socket } = stage();
  socket(0).onopen?.();
  await flush();
  const sum = connection.call("add", { a: 1, b: 2 });
  await flush();
  end(socket(0));
  await expect(sum).rejects.toBeInstanceOf(Error);
  await flush();
  expect(connection.state).toEqual({ phase: "ended", reason: "signedOut" });
  expect(sockets).toHaveLength(1);
  await expect(connection.call("add", { a: 1, b: 2 })).rejects.toEqual(new SessionOver("signedOut"));
});

test("a session that another sign-in renewed goes on over a new socket", async () => {
  const { connection, sockets, socket } = stage();
  socket(0).onopen?.();
  await flush();
  const listener = vi.fn();
  connection.on("session/ended", listener);
  const unheard = connection.call("add", { a: 1, b: 2 });
  await flush();
  socket(0).receive({ jsonrpc: "2.0", method: "session/ended", params: { reason: "renewed" } });
  socket(0).drop(4403, "renewed");
  await expect(unheard).rejects.toBeInstanceOf(ConnectionLost);
  await flush();
  expect(sockets).toHaveLength(2);
  socket(1).onopen?.();
  await flush();
  expect(connection.state).toEqual({ phase: "open" });
  expect(listener).not.toHaveBeenCalled();
});

test("a gateway that is there and refuses the socket means not signed in", async () => {
  const { connection, socket } = stage({ probe: () => Promise.resolve("refused") });
  const sum = connection.call("add", { a: 1, b: 2 });
  socket(0).drop();
  await expect(sum).rejects.toBeInstanceOf(SessionOver);
  expect(connection.state).toEqual({ phase: "ended", reason: "notSignedIn" });
});

test("not signed in, said as an error, ends the connection", async () => {
  const { connection, socket } = stage();
  socket(0).onopen?.();
  await flush();
  const sum = connection.call("add", { a: 1, b: 2 });
  await flush();
  socket(0).receive({ jsonrpc: "2.0", id: 1, error: { code: -32001, message: "no session" } });
  await expect(sum).rejects.toBeInstanceOf(RpcError);
  expect(connection.state.phase).toBe("ended");
});

test("a withdrawn request is forgotten, and its late answer with it", async () => {
  const { connection, socket } = stage();
  socket(0).onopen?.();
  await flush();
  const abort = new AbortController();
  const sum = connection.call("add", { a: 1, b: 2 }, abort.signal);
  await flush();
  abort.abort(new Error("changed my mind"));
  await expect(sum).rejects.toThrow("changed my mind");
  socket(0).answer(3);
  const waiting = new AbortController();
  socket(0).drop();
  const later = connection.call("add", { a: 1, b: 2 }, waiting.signal);
  waiting.abort(new Error("not again"));
  await expect(later).rejects.toThrow("not again");
});

test("a message too long for a frame is refused here, for the gateway would close the socket", async () => {
  const { connection, socket } = stage();
  socket(0).onopen?.();
  await flush();
  const huge = { a: 1, b: 2, note: "é".repeat(200_000) };
  await expect(connection.call("add", huge)).rejects.toEqual(new RpcError(-32602, "the message is too long"));
  expect(socket(0).sent).toHaveLength(0);
});

test("notifications reach their listeners until they leave, and noise reaches nobody", async () => {
  const { connection, socket } = stage();
  socket(0).onopen?.();
  await flush();
  const heard: number[] = [];
  const leave = connection.on("ping", ({ n }) => heard.push(n));
  for (const noise of ["{", "[]", "null", '{"id":99,"result":1}', '{"method":7}']) socket(0).receive(noise);
  socket(0).onmessage?.({ data: new ArrayBuffer(3) });
  socket(0).receive({ jsonrpc: "2.0", method: "ping", params: { n: 1 } });
  leave();
  socket(0).receive({ jsonrpc: "2.0", method: "ping", params: { n: 2 } });
  expect(heard).toEqual([1]);
});

test("stopping closes the socket and wakes nobody", async () => {
  const { connection, sockets, socket } = stage();
  const states: ConnectionState["phase"][] = [];
  connection.onState(() => states.push(connection.state.phase));
  socket(0).onopen?.();
  await flush();
  connection.stop();
  socket(0).drop(1000);
  await flush();
  expect(socket(0).closedWith).toBe(1000);
  expect(states).toEqual(["open", "ended"]);
  expect(sockets).toHaveLength(1);
});
