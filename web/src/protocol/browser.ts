import type { MethodMap, NotificationMap, RpcOptions, Socket, SocketRefusal } from "./rpc.ts";
import { RpcConnection } from "./rpc.ts";

/** What is used of the browser: its WebSocket and a plain request. */
interface BrowserApis {
  readonly origin: string;
  openSocket(url: string, subprotocol: string): Socket;
  fetch(url: string): Promise<{ readonly status: number }>;
}

/** A connection to `/ws` of the page's own origin. Not started yet. */
export function connectTo<M extends MethodMap, N extends NotificationMap>(browser: BrowserApis): RpcConnection<M, N> {
  const url = `${browser.origin.replace(/^http/, "ws")}/ws`;
  const options: RpcOptions = {
    openSocket: (subprotocol) => browser.openSocket(url, subprotocol),
    delay: wait,
    random: Math.random,
    probe: () => probe(browser),
  };
  return new RpcConnection<M, N>(options);
}

/** A browser hides why a socket was refused. The same request without a handshake is answered for all to read. */
async function probe(browser: BrowserApis): Promise<"refused" | SocketRefusal> {
  try {
    const { status } = await browser.fetch("/ws");
    if (status === 429) return "crowded";
    return status === 401 || status === 403 ? "refused" : "unreachable";
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
