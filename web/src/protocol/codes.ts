/** The subprotocol that both sides of a socket must name. */
export const SUBPROTOCOL = "countersign.v1";

/** The largest frame the gateway takes, in UTF-8 bytes. */
export const MAX_MESSAGE_BYTES = 256 * 1024;

/** JSON-RPC error codes of docs/PROTOCOL.md section 5. */
export const RpcCode = {
  notSignedIn: -32001,
  tooManyRequests: -32002,
  notFound: -32003,
  invalidParams: -32602,
} as const;

/** Close codes after which the session is over and reconnecting is pointless. */
const FINAL_CLOSE_CODES: ReadonlySet<number> = new Set([4401, 4403]);

/** The session goes on under the new cookie of another sign-in; only sockets of the old one are closed. */
export const RENEWED = "renewed";

export function endsSession(closeCode: number, reason: string): boolean {
  return FINAL_CLOSE_CODES.has(closeCode) && reason !== RENEWED;
}
