/**
 * Certificates (RFC 5280), as far as a chain from an authority's to one that was given needs them. What is not understood and
 * critical, such as a constraint on names, is refused.
 */

import { type Bytes, equalBytes, fromBase64, writeHex } from "./bytes.ts";
import { held, list, needLength, objectName, only, TAGS, type Value } from "./der.ts";
import { Malformed } from "./json.ts";
import { readMoment } from "./time-stamp.ts";

export interface Certificate {
  readonly raw: Uint8Array;
  readonly number: Uint8Array;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  /** Seconds since 1970; the end is no part of it, as OpenSSL has it. */
  readonly begins: number;
  readonly ends: number;
  readonly key: Value;
  readonly extensions: ReadonlyMap<string, Extension>;
  readonly signed: Uint8Array;
  readonly signature: Value;
  readonly signatureKind: string;
}

interface Extension {
  readonly critical: boolean;
  readonly value: Value;
}

const EXTENSIONS = {
  subjectKey: "551d0e",
  usage: "551d0f",
  subjectName: "551d11",
  issuerName: "551d12",
  constraints: "551d13",
  policies: "551d20",
  authorityKey: "551d23",
  purposes: "551d25",
} as const;

const UNDERSTOOD: ReadonlySet<string> = new Set(Object.values(EXTENSIONS));
const TIME_STAMPING = "2b06010505070308";

/** Bits of the key's usage, from the first of its octet. */
const SIGNING = 0x80 | 0x40;
const CERTIFYING = 0x04;

const RSA = "2a864886f70d010101";
const ELLIPTIC = "2a8648ce3d0201";
const CURVES = new Map([
  ["2a8648ce3d030107", { name: "P-256", size: 32 }],
  ["2b81040022", { name: "P-384", size: 48 }],
  ["2b81040023", { name: "P-521", size: 66 }],
]);

/** The digest of each kind of signature that is known. */
export const SIGNATURES: ReadonlyMap<string, string> = new Map([
  ["2a864886f70d01010b", "SHA-256"],
  ["2a864886f70d01010c", "SHA-384"],
  ["2a864886f70d01010d", "SHA-512"],
  ["2a8648ce3d040302", "SHA-256"],
  ["2a8648ce3d040303", "SHA-384"],
  ["2a8648ce3d040304", "SHA-512"],
]);

/** More than any authority has. */
const LONGEST_CHAIN = 8;

/** In PEM, one or many, or one in DER. Throws Malformed. */
export function readCertificates(file: Uint8Array): readonly Certificate[] {
  const text = new TextDecoder("latin1").decode(file);
  const blocks = [...text.matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g)];
  if (!text.includes("-----BEGIN")) return [readCertificate(only(file))];
  if (blocks.length === 0) throw new Malformed("the file holds no certificate");
  return blocks.map(([, block = ""]) => readCertificate(only(fromBase64(block.replaceAll(/\s/g, "")))));
}

/** Throws Malformed. */
export function readCertificate(value: Value): Certificate {
  const whole = list(value);
  needLength(whole, 3);
  const parts = [...list(whole[0])];
  if (parts[0]?.tag === TAGS.first) parts.shift();
  const [number, , issuer, validity, subject, key, ...rest] = parts;
  if (issuer === undefined || subject === undefined || key === undefined) throw new Malformed("a part is missing");
  const [begins, ends] = list(validity);
  const extended = rest.find(({ tag }) => tag === TAGS.fourth);
  return {
    raw: value.raw,
    number: held(number, TAGS.integer),
    issuer: issuer.raw,
    subject: subject.raw,
    begins: readTime(begins),
    ends: readTime(ends),
    key,
    extensions: new Map(extended === undefined ? [] : list(only(extended.held)).map(readExtension)),
    signed: (whole[0] as Value).raw,
    signature: whole[2] as Value,
    signatureKind: objectName(list(whole[1])[0]),
  };
}

function readExtension(value: Value): readonly [string, Extension] {
  const parts = list(value);
  needLength(parts, 2, 3);
  const critical = parts.length === 3 && writeHex(held(parts[1], TAGS.boolean)) === "ff";
  return [objectName(parts[0]), { critical, value: only(held(parts.at(-1), TAGS.octets)) }];
}

/** A year of two digits is of 1950 to 2049. */
function readTime(value: Value | undefined): number {
  if (value?.tag !== TAGS.utcTime) return readMoment(held(value, TAGS.time));
  const century = Number(String.fromCharCode(...value.held.subarray(0, 2))) < 50 ? "20" : "19";
  return readMoment(new Uint8Array([...century].map((digit) => digit.charCodeAt(0)).concat(...value.held)));
}

export function isValidAt({ begins, ends }: Certificate, at: number): boolean {
  return begins <= at && at < ends;
}

/** For time stamps and nothing else (RFC 3161 section 2.3). */
export function isForStamps({ extensions }: Certificate): boolean {
  const purposes = extensions.get(EXTENSIONS.purposes);
  if (purposes?.critical !== true) return false;
  const usage = readUsage(extensions);
  const names = list(purposes.value).map(objectName);
  return names.join() === TIME_STAMPING && (usage === null || ((usage & SIGNING) !== 0 && (usage & ~SIGNING) === 0));
}

function readUsage(extensions: Certificate["extensions"]): number | null {
  const usage = extensions.get(EXTENSIONS.usage);
  return usage === undefined ? null : (held(usage.value, TAGS.bits)[1] ?? 0);
}

/**
 * Whether it goes back, by those that are carried, to one that was given and signed itself; all of them valid at that time.
 * Each is tried once: of a dozen that signed each other there are millions of ways.
 */
export async function leadsToGiven(
  certificate: Certificate,
  carried: readonly Certificate[],
  given: readonly Certificate[],
  at: number,
  below = 0,
  tried = new Set<Certificate>(),
): Promise<boolean> {
  if (tried.has(certificate)) return false;
  tried.add(certificate);
  if (!isValidAt(certificate, at) || hasUnknown(certificate)) return false;
  if (equalBytes(certificate.issuer, certificate.subject)) {
    return given.some(({ raw }) => equalBytes(raw, certificate.raw));
  }
  if (below === LONGEST_CHAIN) return false;
  for (const issuer of [...given, ...carried]) {
    const issued = couldHaveIssued(issuer, certificate, below);
    if (
      issued &&
      (await hasSigned(issuer, certificate)) &&
      (await leadsToGiven(issuer, carried, given, at, below + 1, tried))
    )
      return true;
  }
  return false;
}

function hasUnknown({ extensions }: Certificate): boolean {
  return [...extensions].some(([name, { critical }]) => critical && !UNDERSTOOD.has(name));
}

function couldHaveIssued(issuer: Certificate, certificate: Certificate, below: number): boolean {
  const constraints = issuer.extensions.get(EXTENSIONS.constraints);
  if (!equalBytes(issuer.subject, certificate.issuer) || constraints === undefined) return false;
  const [ca, longest] = list(constraints.value);
  if (ca?.tag !== TAGS.boolean || writeHex(ca.held) !== "ff") return false;
  if (longest !== undefined && Number(`0x${writeHex(held(longest, TAGS.integer))}`) < below) return false;
  const usage = readUsage(issuer.extensions);
  return (usage === null || (usage & CERTIFYING) !== 0) && isKeyNamed(issuer, certificate);
}

/** Where one names its issuer's key and the other its own, they are the same. */
function isKeyNamed(issuer: Certificate, certificate: Certificate): boolean {
  const own = issuer.extensions.get(EXTENSIONS.subjectKey);
  const named = certificate.extensions.get(EXTENSIONS.authorityKey);
  const key = named === undefined ? undefined : list(named.value).find(({ tag }) => tag === 0x80);
  return own === undefined || key === undefined || equalBytes(held(own.value, TAGS.octets), key.held);
}

async function hasSigned(issuer: Certificate, { signed, signature, signatureKind }: Certificate): Promise<boolean> {
  const hash = SIGNATURES.get(signatureKind);
  const [unused, ...bits] = held(signature, TAGS.bits);
  return hash !== undefined && unused === 0 && verifies(issuer.key, hash, new Uint8Array(bits), signed);
}

/** Whether a signature by that public key, over that digest of the bytes, verifies. */
export async function verifies(key: Value, hash: string, signature: Uint8Array, signed: Uint8Array): Promise<boolean> {
  const [kind, curve] = list(list(key)[0]);
  try {
    switch (objectName(kind)) {
      case RSA: {
        const algorithm = { name: "RSASSA-PKCS1-v1_5", hash };
        const imported = await crypto.subtle.importKey("spki", copy(key.raw), algorithm, false, ["verify"]);
        return await crypto.subtle.verify(algorithm, imported, copy(signature), copy(signed));
      }
      case ELLIPTIC: {
        const { name, size } = CURVES.get(objectName(curve)) ?? { name: "", size: 0 };
        const algorithm = { name: "ECDSA", namedCurve: name };
        const imported = await crypto.subtle.importKey("spki", copy(key.raw), algorithm, false, ["verify"]);
        return await crypto.subtle.verify({ name: "ECDSA", hash }, imported, plain(signature, size), copy(signed));
      }
      default:
        return false;
    }
  } catch (error) {
    // No key of its kind, or a curve that is not known.
    if (error instanceof DOMException || error instanceof TypeError || error instanceof Malformed) return false;
    throw error;
  }
}

/** A signature of two numbers in DER, as WebCrypto takes it: each in as many bytes as the curve has. */
function plain(signature: Uint8Array, size: number): Bytes {
  const numbers = list(only(signature));
  needLength(numbers, 2);
  const made = new Uint8Array(2 * size);
  for (const [place, number] of numbers.entries()) {
    const digits = held(number, TAGS.integer);
    const [head] = digits;
    const kept = head === 0 ? digits.subarray(1) : digits;
    if (head === undefined || kept.length > size) throw new Malformed("a number is too long");
    made.set(kept, (place + 1) * size - kept.length);
  }
  return made;
}

const copy = (bytes: Uint8Array): Bytes => new Uint8Array(bytes);
