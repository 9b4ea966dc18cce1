/** Bytes, their spellings in text, and SHA-256. */

import { sha256 } from "@noble/hashes/sha2.js";
import { encodeText, Malformed } from "./json.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

/** SHA-256 of all parts in a row. */
export function hash(...parts: readonly Uint8Array[]): Bytes {
  const hashed = sha256.create();
  for (const part of parts) hashed.update(part);
  return new Uint8Array(hashed.digest());
}

export function digestOf(text: string): string {
  return writeHex(hash(encodeText(text)));
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function writeHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Throws Malformed for anything but pairs of lower-case hexadecimal digits. */
export function fromHex(text: string): Bytes {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) throw new Malformed("this is no hexadecimal text");
  const bytes = new Uint8Array(text.length / 2);
  for (let place = 0; place < bytes.length; place++) {
    bytes[place] = Number.parseInt(text.slice(2 * place, 2 * place + 2), 16);
  }
  return bytes;
}

export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, place) => byte === other[place]);
}

/** Standard base64 with its padding. Throws Malformed; every value has one spelling. */
export function fromBase64(text: string): Bytes {
  const bytes = decode(text);
  if (toBase64(bytes) !== text) throw new Malformed("this is no base64");
  return bytes;
}

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Base64url without padding, as WebAuthn writes it. Throws Malformed; every value has one spelling. */
export function fromBase64url(text: string): Bytes {
  const bytes = fromAnyBase64url(text);
  if (toBase64url(bytes) !== text) throw new Malformed("this is no base64url");
  return bytes;
}

/** The same, whatever the spare bits of the last character are: what a signature covers does not depend on them. */
export function fromAnyBase64url(text: string): Bytes {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new Malformed("this is no base64url");
  return decode(text.replaceAll("-", "+").replaceAll("_", "/"));
}

export function toBase64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decode(text: string): Bytes {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new Malformed("this is no base64");
  }
}
