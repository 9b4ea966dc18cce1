/** SHA-256 of a text's UTF-8 bytes. Needs a secure context, which `*.localhost` and https are. */
export async function hashText(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** Lower-case hex, as docs/PROTOCOL.md section 3 writes every digest. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
