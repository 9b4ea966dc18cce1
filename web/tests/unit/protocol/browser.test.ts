import { expect, test } from "vitest";
import { connectTo, wait } from "../../../src/protocol/browser.ts";
import type { Socket } from "../../../src/protocol/rpc.ts";

function refusing(fetch: () => Promise<{ status: number }>) {
  const urls: string[] = [];
  const socket: Socket = {
    onopen: null,
    onmessage: null,
    onclose: null,
    readyState: 1,
    send: () => undefined,
    close: () => undefined,
  };
  const line = connectTo({
    origin: "https://agent.example.com",
    openSocket: (url, subprotocol) => {
      urls.push(`${url} ${subprotocol}`);
      return socket;
    },
    fetch,
  });
  line.start();
  socket.onclose?.({ code: 1006, reason: "" });
  return { line, urls };
}

test("the line leads to this origin's socket, under the contract's name", () => {
  const { line, urls } = refusing(() => Promise.reject(new TypeError("down")));
  expect(urls).toEqual(["wss://agent.example.com/ws countersign.v1"]);
  line.stop();
});

test.each([
  ["knows no session", () => Promise.resolve({ status: 401 }), { phase: "ended", reason: "notSignedIn" }],
  ["has too many of this session", () => Promise.resolve({ status: 429 }), { phase: "lost", cause: "crowded" }],
  ["would open one now", () => Promise.resolve({ status: 426 }), { phase: "lost", cause: "unreachable" }],
  ["is broken", () => Promise.resolve({ status: 500 }), { phase: "lost", cause: "unreachable" }],
  ["is away", () => Promise.reject(new TypeError("down")), { phase: "lost", cause: "unreachable" }],
])("a socket refused by a gateway that %s", async (_name, fetch, state) => {
  const { line } = refusing(fetch);
  await new Promise<void>((resolve) => line.onState(resolve));
  expect(line.state).toMatchObject(state);
  line.stop();
});

test("a wait ends by itself, or at once when nobody waits any more", async () => {
  await wait(0, new AbortController().signal);
  const abort = new AbortController();
  const waiting = wait(60_000, abort.signal);
  abort.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await expect(wait(0, abort.signal)).rejects.toThrow("enough");
});
