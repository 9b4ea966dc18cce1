/** What anchors gave for checkpoints of a log, as receipts and exported logs carry it: docs/AUDIT.md says which. */

import { equalBytes, fromBase64, hash, writeHex } from "./bytes.ts";
import { encodeText, isJsonObject, type Json, type JsonObject, Malformed } from "./json.ts";
import { type Checkpoint, checkpointText, openNote, type VerificationKey } from "./note.ts";
import { readTimeStamp } from "./time-stamp.ts";
import { Found } from "./verdict.ts";

/** The signature type of a cosignature. */
const COSIGNATURE = 4;

/** The end of the year 9999, in seconds. */
const LAST_SECOND = 253_402_300_799n;

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  cosigner: ["key", "kind", "note", "signature"],
  git: ["commit", "kind", "note"],
  rfc3161: ["kind", "note", "token"],
};

export interface Anchored {
  readonly checkpoint: Checkpoint;
  /** What it is, by whom and when, and what was not checked of it. */
  readonly sentence: string;
  /** By the cosigner whose key was given. */
  readonly given: boolean;
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
  trusted: string | undefined,
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
    return { checkpoint, sentence, given: false };
  }
  if (kind === "rfc3161") {
    const at = showTime(await checkStamp(note, held.token ?? "", `${place}.token`));
    const sentence = `A time stamp is over ${records} at ${at}; not checked here: which authority signed that`;
    return { checkpoint, sentence, given: false };
  }
  const line = held.key ?? "";
  const cosigner = await readCosigner(line, `${place}.key`);
  const at = showTime(await checkCosignature(held.signature ?? "", note, cosigner, `${place}.signature`));
  const given = line === trusted;
  const known = given ? "with the key that you gave" : "not checked: whether the key is that cosigner's";
  return { checkpoint, sentence: `The cosigner ${cosigner.name} signed ${records} at ${at}; ${known}`, given };
}

/** Throws Found where the cosigner that was given has signed nothing: evidence that was left out would be missed by nobody. */
export function requireCosigner(found: readonly Anchored[], cosigner: string | undefined): void {
  if (cosigner !== undefined && !found.some(({ given }) => given)) {
    throw new Found("anchors", "no anchor is by the cosigner that was given");
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

async function checkStamp(note: string, token: string, place: string): Promise<number> {
  try {
    const stamp = readTimeStamp(fromBase64(token));
    if (!(await stamp.isOf(note))) throw new Found(place, "it is the time stamp of something else");
    return stamp.at;
  } catch (error) {
    if (error instanceof Malformed) throw new Found(place, "this is no time stamp");
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
