import { expect, test } from "vitest";
import { connectTo, wait } from "../../../src/protocol/browser.ts";
import type { Socket } from "../../../src/protocol/rpc.ts";

function refusing(fetch: () => Promise<{ ok: boolean }>) {
  const urls: string[] = [];
  const socket: Socket = {
    onopen: null,
    onmessage: null,
    onclose: null,
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
  ["serves its page", () => Promise.resolve({ ok: true }), "ended"],
  ["is broken", () => Promise.resolve({ ok: false }), "lost"],
  ["is away", () => Promise.reject(new TypeError("down")), "lost"],
])("a socket refused by a gateway that %s", async (_name, fetch, phase) => {
  const { line } = refusing(fetch);
  await new Promise<void>((resolve) => line.onState(resolve));
  expect(line.state.phase).toBe(phase);
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
