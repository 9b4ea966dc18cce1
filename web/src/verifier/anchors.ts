/** What anchors gave for checkpoints of a log, as receipts and exported logs carry it: docs/AUDIT.md says which. */

import { equalBytes, fromBase64, hash, writeHex } from "./bytes.ts";
import { readCertificates } from "./certificates.ts";
import { encodeText, isJsonObject, type Json, type JsonObject, Malformed } from "./json.ts";
import { type Checkpoint, checkpointText, openNote, type VerificationKey } from "./note.ts";
import { findFaultInStamp } from "./stamp-signature.ts";
import { readTimeStamp } from "./time-stamp.ts";
import { Found, type Kept } from "./verdict.ts";

/** The signature type of a cosignature. */
const COSIGNATURE = 4;

/** The end of the year 9999, in seconds. */
const LAST_SECOND = 253_402_300_799n;

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  cosigner: ["key", "kind", "note", "signature"],
  git: ["commit", "kind", "note"],
  rfc3161: ["kind", "note", "token"],
};

/** Whom whoever checks believes. */
export type Trusted = Pick<Kept, "cosigner" | "authority">;

export interface Anchored {
  readonly checkpoint: Checkpoint;
  /** What it is, by whom and when, and what was not checked of it. */
  readonly sentence: string;
  /** By the cosigner whose key was given, or the authority whose certificates were. */
  readonly given: keyof Trusted | null;
}

interface Cosigner {
  readonly name: string;
  readonly id: Uint8Array;
  readonly key: CryptoKey;
}

/** Throws Found, with the member of it that is wrong. */
export async function checkEvidence(
  value: Json | undefined,
  place: string,
  keys: readonly VerificationKey[],
  trusted: Trusted,
): Promise<Anchored> {
  if (!isJsonObject(value)) throw new Found(place, "this has to be an object");
  const { kind } = value;
  const names = typeof kind === "string" && Object.hasOwn(MEMBERS, kind) ? MEMBERS[kind] : undefined;
  if (names === undefined) throw new Found(`${place}.kind`, "this is no kind of anchor whose evidence is carried");
  if (Object.keys(value).toSorted().join() !== names.join()) {
    throw new Found(place, `one of the kind \`${kind}\` has to have the members ${names.join(", ")}, and no others`);
  }
  for (const name of names) {
    if (typeof value[name] !== "string") throw new Found(`${place}.${name}`, "this has to be a text");
  }
  const held = value as JsonObject & Readonly<Record<string, string>>;
  const note = held.note ?? "";
  const checkpoint = await open(note, `${place}.note`, keys);
  const records = `the log's first ${checkpoint.size} records`;
  if (kind === "git") {
    const commit = held.commit ?? "";
    if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commit)) {
      throw new Found(`${place}.commit`, "this is no id of a commit");
    }
    const sentence = `The git commit ${commit} is said to hold ${records}; not checked: look it up in that repository`;
    return { checkpoint, sentence, given: null };
  }
  if (kind === "rfc3161") {
    const at = showTime(await checkStamp(note, held.token ?? "", `${place}.token`, trusted.authority));
    const given = trusted.authority === undefined ? null : "authority";
    const known = given === null ? "not checked: which authority signed that" : "by the authority that you gave";
    return { checkpoint, sentence: `A time stamp is over ${records} at ${at}; ${known}`, given };
  }
  const line = held.key ?? "";
  const cosigner = await readCosigner(line, `${place}.key`);
  const at = showTime(await checkCosignature(held.signature ?? "", note, cosigner, `${place}.signature`));
  const given = line === trusted.cosigner ? "cosigner" : null;
  const known = given === null ? "not checked: whether the key is that cosigner's" : "with the key that you gave";
  return { checkpoint, sentence: `The cosigner ${cosigner.name} signed ${records} at ${at}; ${known}`, given };
}

/** Throws Found where whom was given has signed nothing: evidence that was left out would be missed by nobody. */
export function requireTrusted(found: readonly Anchored[], { cosigner, authority }: Trusted): void {
  const met = new Set(found.map(({ given }) => given));
  if (cosigner !== undefined && !met.has("cosigner")) {
    throw new Found("anchors", "no anchor is by the cosigner that was given");
  }
  if (authority !== undefined && !met.has("authority")) {
    throw new Found("anchors", "no anchor is a time stamp, and an authority was given");
  }
}

async function open(note: string, place: string, keys: readonly VerificationKey[]): Promise<Checkpoint> {
  let first: string | null = null;
  for (const key of keys) {
    const opened = await openNote(note, key);
    if ("reason" in opened) {
      first ??= opened.reason;
      continue;
    }
    const text = checkpointText(opened);
    if (!note.startsWith(`${text}\n`) || note.slice(text.length + 1).split("\n").length !== 2) {
      throw new Found(place, "the anchored checkpoint says more than a gateway's does");
    }
    if (opened.size === 0) throw new Found(place, "the anchored checkpoint covers no record");
    return opened;
  }
  throw new Found(place, `the anchored checkpoint proves nothing: ${first ?? "the log has no key"}`);
}

async function readCosigner(line: string, place: string): Promise<Cosigner> {
  const [, name = "", id = "", encoded = ""] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
  const raw = decode(encoded);
  if (raw === null || raw.length !== 33 || raw[0] !== COSIGNATURE)
    throw new Found(place, "this is no key of a cosigner");
  const expected = hash(encodeText(`${name}\n`), raw).slice(0, 4);
  if (writeHex(expected) !== id) throw new Found(place, "this is no key of a cosigner");
  const key = await crypto.subtle.importKey("raw", raw.slice(1), "Ed25519", false, ["verify"]);
  return { name, id: expected, key };
}

/** When it was signed, in seconds since 1970. */
async function checkCosignature(line: string, note: string, cosigner: Cosigner, place: string): Promise<number> {
  const start = `— ${cosigner.name} `;
  const raw = line.startsWith(start) ? decode(line.slice(start.length)) : null;
  if (raw === null || raw.length !== 4 + 8 + 64 || !equalBytes(raw.slice(0, 4), cosigner.id)) {
    throw new Found(place, "its line is no signature by that key");
  }
  const at = BigInt(`0x${writeHex(raw.slice(4, 12))}`);
  const text = note.slice(0, note.lastIndexOf("\n\n") + 1);
  const signed = encodeText(`cosignature/v1\ntime ${at}\n${text}`);
  if (!(await crypto.subtle.verify("Ed25519", cosigner.key, raw.slice(12), signed))) {
    throw new Found(place, "its signature does not verify");
  }
  if (at > LAST_SECOND) throw new Found(place, "it was made at no time that there is");
  return Number(at);
}

async function checkStamp(
  note: string,
  token: string,
  place: string,
  authority: Trusted["authority"],
): Promise<number> {
  const stamp = parse(() => readTimeStamp(fromBase64(token)), place, "this is no time stamp");
  if (!(await stamp.isOf(note))) throw new Found(place, "it is the time stamp of something else");
  if (authority !== undefined) {
    const given = parse(() => readCertificates(authority), place, "the file `ca` holds no certificates in PEM or DER");
    const fault = await findFaultInStamp(stamp, given);
    if (fault !== null) throw new Found(place, `its time stamp does not hold: ${fault}`);
  }
  return stamp.at;
}

function parse<Read>(read: () => Read, place: string, otherwise: string): Read {
  try {
    return read();
  } catch (error) {
    if (error instanceof Malformed) throw new Found(place, otherwise);
    throw error;
  }
}

function decode(encoded: string) {
  try {
    return fromBase64(encoded);
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

function showTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
