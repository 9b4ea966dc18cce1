/** Passkeys' answers (WebAuthn Level 3 section 7.2), checked from their raw bytes. */

import { decodeFirst } from "cborg";
import { type Bytes, equalBytes, fromAnyBase64url, fromBase64url, hash, toBase64url, writeHex } from "./bytes.ts";
import {
  decodeText,
  encodeText,
  isJsonObject,
  type Json,
  type JsonObject,
  Malformed,
  member,
  need,
  needObject,
  needText,
  parseJson,
} from "./json.ts";

/** A passkey as the record of its registration has it; id and COSE key in base64url. */
export interface RecordedPasskey {
  readonly credentialId: string;
  readonly personId: string;
  readonly publicKey: string;
  readonly backupEligible: boolean;
}

const FLAGS = { present: 0x01, verified: 0x04, backupEligible: 0x08, backedUp: 0x10, attested: 0x40, extended: 0x80 };

/** Bytes of authenticator data before what the flags announce: hash of the RP ID, flags, counter (section 6.1). */
const HEAD = 37;

/** WebAuthn Level 3 section 7.1 step 25. */
const LONGEST_ID = 1023;

/** The challenge that an answer is to, in hexadecimal; null for what no browser writes. */
export function readChallenge(assertion: Json): string | null {
  try {
    if (!isJsonObject(assertion)) return null;
    const data = parseJson(decodeText(fromAnyBase64url(needText(needObject(assertion, "response"), "clientDataJSON"))));
    return isJsonObject(data) ? writeHex(fromAnyBase64url(needText(data, "challenge"))) : null;
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

/**
 * What is wrong with an answer by that passkey, as the end of a sentence; null where it holds. The site is the one that the answer
 * names: the gateway's own address is not on record.
 */
export async function findFaultInAnswer(
  assertion: JsonObject,
  challenge: Uint8Array,
  mustVerifyPerson: boolean,
  passkey: RecordedPasskey,
): Promise<string | null> {
  try {
    return await check(assertion, challenge, mustVerifyPerson, passkey);
  } catch (error) {
    if (error instanceof Malformed) return "it is none that a browser writes";
    throw error;
  }
}

async function check(
  assertion: JsonObject,
  challenge: Uint8Array,
  mustVerifyPerson: boolean,
  passkey: RecordedPasskey,
): Promise<string | null> {
  const response = needObject(assertion, "response");
  const clientBytes = fromBase64url(needText(response, "clientDataJSON"));
  const client = parseJson(decodeText(clientBytes));
  if (!isJsonObject(client)) throw new Malformed("the client data is no object");
  const id = fromBase64url(needText(assertion, "rawId"));
  if (need(assertion, "id") !== assertion.rawId || id.length === 0 || id.length > LONGEST_ID) {
    throw new Malformed("the passkey's id is none");
  }
  if (assertion.rawId !== passkey.credentialId) return "that passkey was not asked for";
  const data = fromBase64url(needText(response, "authenticatorData"));
  if (data.length < HEAD) throw new Malformed("the authenticator data is too short");
  const flags = data[32] ?? 0;
  if (needText(client, "type") !== "webauthn.get") return "the answer belongs to another kind of ceremony";
  if (!equalBytes(fromBase64url(needText(client, "challenge")), challenge)) return "the answer is not to this question";
  const crossOrigin = member(client, "crossOrigin") ?? false;
  if (typeof crossOrigin !== "boolean") throw new Malformed("`crossOrigin` is neither true nor false");
  if (crossOrigin || member(client, "topOrigin") !== undefined) {
    return "the passkey was used inside another site's frame";
  }
  const host = hostOf(needText(client, "origin"));
  if (!equalBytes(data.slice(0, 32), hash(encodeText(host)))) return "the passkey belongs to another site";
  if (!(flags & FLAGS.present)) return "nobody touched the passkey";
  if (mustVerifyPerson && !(flags & FLAGS.verified)) return "the passkey did not verify who used it";
  const eligible = (flags & FLAGS.backupEligible) !== 0;
  if (flags & FLAGS.backedUp && !eligible) return "the passkey says it is backed up and cannot be";
  if (eligible !== passkey.backupEligible) return "the passkey changed what kind of passkey it is";
  if (need(assertion, "type") !== "public-key" || !isWholeData(data, flags)) return UNVERIFIED;
  const attachment = member(assertion, "authenticatorAttachment") ?? null;
  if (typeof attachment === "string" && attachment !== "platform" && attachment !== "cross-platform") return UNVERIFIED;
  const signature = fromAnyBase64url(needText(response, "signature"));
  const signed = concat(data, hash(clientBytes));
  return verify(fromBase64url(passkey.publicKey), signature, signed);
}

const UNVERIFIED = "the passkey's signature does not verify";

function hostOf(origin: string): string {
  try {
    return new URL(origin).hostname;
  } catch {
    throw new Malformed("the origin is none");
  }
}

/** Whether nothing follows what the flags announce. */
function isWholeData(data: Bytes, flags: number): boolean {
  let rest: Uint8Array = data.slice(HEAD);
  try {
    if (flags & FLAGS.attested) {
      const length = new DataView(data.buffer).getUint16(HEAD + 16);
      rest = decodeFirst(rest.slice(18 + length), CBOR)[1];
    }
    if (flags & FLAGS.extended) rest = decodeFirst(rest, CBOR)[1];
  } catch {
    return false;
  }
  return rest.length === 0;
}

const CBOR = { useMaps: true };

/** Labels of a COSE key (RFC 9052 section 7.1, RFC 9053 section 7). */
const COSE = { kty: 1, alg: 3, crv: -1, x: -2, y: -3, n: -1, e: -2 };

interface Scheme {
  readonly name: string;
  readonly hash: "SHA-256" | "SHA-384" | "SHA-512";
}

/** Signature schemes by their numbers in the registry of COSE algorithms. */
const SCHEMES: ReadonlyMap<unknown, Scheme> = new Map([
  [-7, { name: "ECDSA", hash: "SHA-256" }],
  [-35, { name: "ECDSA", hash: "SHA-384" }],
  [-36, { name: "ECDSA", hash: "SHA-512" }],
  [-8, { name: "Ed25519", hash: "SHA-512" }],
  [-257, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }],
  [-258, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-384" }],
  [-259, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512" }],
] as const);

/** Curves by their COSE numbers, with the bytes of a coordinate. */
const CURVES: ReadonlyMap<unknown, { readonly name: string; readonly size: number }> = new Map([
  [1, { name: "P-256", size: 32 }],
  [2, { name: "P-384", size: 48 }],
  [3, { name: "P-521", size: 66 }],
]);

async function verify(coseKey: Bytes, signature: Bytes, signed: Bytes): Promise<string | null> {
  try {
    const [decoded, rest] = decodeFirst(coseKey, CBOR) as [unknown, Uint8Array];
    if (!(decoded instanceof Map) || rest.length > 0) return UNVERIFIED;
    const scheme = SCHEMES.get(decoded.get(COSE.alg));
    if (scheme === undefined) return "this page does not know that kind of key; `countersign audit verify` may";
    const holds = await verifyWith(scheme, decoded, signature, signed);
    return holds ? null : UNVERIFIED;
  } catch {
    // Keys and signatures that cannot be read make the libraries throw; every one of them means the same.
    return UNVERIFIED;
  }
}

async function verifyWith(
  scheme: Scheme,
  key: Map<unknown, unknown>,
  signature: Bytes,
  signed: Bytes,
): Promise<boolean> {
  const { subtle } = crypto;
  if (scheme.name === "Ed25519") {
    const imported = await subtle.importKey("raw", octets(key.get(COSE.x)), "Ed25519", false, ["verify"]);
    return subtle.verify("Ed25519", imported, signature, signed);
  }
  if (scheme.name === "ECDSA") {
    const curve = CURVES.get(key.get(COSE.crv));
    if (curve === undefined) return false;
    const point = concat(Uint8Array.of(4), octets(key.get(COSE.x)), octets(key.get(COSE.y)));
    const algorithm = { name: "ECDSA", namedCurve: curve.name };
    const imported = await subtle.importKey("raw", point, algorithm, false, ["verify"]);
    return subtle.verify({ name: "ECDSA", hash: scheme.hash }, imported, readDer(signature, curve.size), signed);
  }
  const jwk = { kty: "RSA", n: toBase64url(octets(key.get(COSE.n))), e: toBase64url(octets(key.get(COSE.e))) };
  const algorithm = { name: scheme.name, hash: scheme.hash };
  const imported = await subtle.importKey("jwk", jwk, algorithm, false, ["verify"]);
  return subtle.verify(scheme.name, imported, signature, signed);
}

/** An ECDSA signature in DER, two integers (RFC 3279 section 2.2.3), as the two coordinates in a row that WebCrypto takes. */
function readDer(der: Bytes, size: number): Bytes {
  const joined = new Uint8Array(2 * size);
  let at = 0;
  const next = () => der[at++] ?? fail();
  const length = () => {
    const first = next();
    if (first < 0x80) return first;
    const long = first === 0x81 ? next() : fail();
    return long >= 0x80 ? long : fail();
  };
  if (next() !== 0x30 || length() !== der.length - at) fail();
  for (const half of [0, 1]) {
    if (next() !== 0x02) fail();
    const held = length();
    const digits = der.slice(at, at + held);
    at += held;
    const [first = 0x80, second = 0x80] = digits;
    // Positive, and in as few bytes as it takes.
    if (digits.length !== held || first >= 0x80 || (held > 1 && first === 0 && second < 0x80)) fail();
    const plain = first === 0 ? digits.slice(1) : digits;
    if (plain.length > size) fail();
    joined.set(plain, (half + 1) * size - plain.length);
  }
  if (at !== der.length) fail();
  return joined;
}

function fail(): never {
  throw new Malformed("this is no signature");
}

function octets(value: unknown): Bytes {
  return value instanceof Uint8Array ? new Uint8Array(value) : fail();
}

function concat(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
