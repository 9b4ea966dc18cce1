import type { MethodMap, NotificationMap, RpcOptions, Socket } from "./rpc.ts";
import { RpcConnection } from "./rpc.ts";

/** What the browser gives: its WebSocket and a plain request. */
interface Surroundings {
  readonly origin: string;
  openSocket(url: string, subprotocol: string): Socket;
  fetch(url: string): Promise<{ readonly ok: boolean }>;
}

/** A connection to `/ws` of the page's own origin. Not started yet. */
export function connectTo<M extends MethodMap, N extends NotificationMap>(around: Surroundings): RpcConnection<M, N> {
  const url = `${around.origin.replace(/^http/, "ws")}/ws`;
  const options: RpcOptions = {
    openSocket: (subprotocol) => around.openSocket(url, subprotocol),
    delay: wait,
    random: Math.random,
    probe: () => probe(around),
  };
  return new RpcConnection<M, N>(options);
}

/** A browser hides why a socket was refused. A gateway that serves its page, and still refuses the socket, does not know us. */
async function probe(around: Surroundings): Promise<"refused" | "unreachable"> {
  try {
    return (await around.fetch("/")).ok ? "refused" : "unreachable";
  } catch {
    return "unreachable";
  }
}

/** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", give);
      resolve();
    }, ms);
    const give = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener("abort", give, { once: true });
  });
}
