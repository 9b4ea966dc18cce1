/** Signed checkpoints: c2sp.org/tlog-checkpoint inside c2sp.org/signed-note, with keys of the form `name+hash+key`. */

import { type Bytes, equalBytes, fromBase64, hash, toBase64, writeHex } from "./bytes.ts";
import { encodeText, Malformed } from "./json.ts";

/** The signature type of signed-note for Ed25519. */
const ED25519 = 1;

export interface VerificationKey {
  readonly name: string;
  readonly line: string;
  readonly id: Bytes;
  readonly key: CryptoKey;
}

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Bytes;
}

/** Why a note proves nothing. */
export interface Unverified {
  readonly reason: string;
}

/** Throws Malformed for a line that is no key. */
export async function readKey(line: string): Promise<VerificationKey> {
  // The base64 part may hold plus signs itself, so the line is split from the left.
  const [, name = "", id = "", encoded = ""] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
  const raw = fromBase64(encoded);
  if (name === "" || raw.length !== 33 || raw[0] !== ED25519) throw new Malformed("this is no Ed25519 key");
  const expected = hash(encodeText(`${name}\n`), raw).slice(0, 4);
  if (writeHex(expected) !== id) throw new Malformed("this key is damaged");
  const key = await crypto.subtle.importKey("raw", raw.slice(1), "Ed25519", false, ["verify"]);
  return { name, id: expected, key, line: `${name}+${id}+${encoded}` };
}

/** The text of a checkpoint: what is signed. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

export function sameCheckpoint(one: Checkpoint, other: Checkpoint): boolean {
  return one.origin === other.origin && one.size === other.size && equalBytes(one.root, other.root);
}

/** What a note says about this key's log, whoever signed it. */
export function readNote(note: string, key: VerificationKey): Checkpoint | Unverified {
  const parts = part(note);
  if (parts === null) return { reason: "it is not a signed note" };
  const checkpoint = readCheckpoint(parts.text);
  if (checkpoint === null) return { reason: "it holds no checkpoint" };
  if (checkpoint.origin !== key.name) {
    return { reason: `it is about the log \`${checkpoint.origin}\`, not \`${key.name}\`` };
  }
  return checkpoint;
}

/** The checkpoint of a note that this key signed. Lines of other signers are passed over, as signed-note asks. */
export async function openNote(note: string, key: VerificationKey): Promise<Checkpoint | Unverified> {
  const checkpoint = readNote(note, key);
  const parts = part(note);
  if ("reason" in checkpoint || parts === null) return checkpoint;
  return (await findFault(parts.text, parts.signatures, key)) ?? checkpoint;
}

/** Why this is not the key's signature over the text, as the line of a signed note has one; null where it is. */
export async function findSignatureFault(
  text: string,
  signature: string,
  key: VerificationKey,
): Promise<Unverified | null> {
  if (signature.includes("\n")) return { reason: "a signature line is malformed" };
  return findFault(text, `— ${key.name} ${signature}\n`, key);
}

async function findFault(text: string, signatures: string, key: VerificationKey): Promise<Unverified | null> {
  for (const line of signatures.split("\n").slice(0, -1)) {
    const [, signer, encoded = ""] = /^— (.*) ([^ ]*)$/.exec(line) ?? [];
    let signature: Bytes;
    try {
      signature = fromBase64(encoded);
    } catch {
      return { reason: "a signature line is malformed" };
    }
    if (signer === undefined) return { reason: "a signature line is malformed" };
    if (signer !== key.name || !equalBytes(signature.slice(0, 4), key.id)) continue;
    const holds = await crypto.subtle.verify("Ed25519", key.key, signature.slice(4), encodeText(text));
    return holds ? null : { reason: "its signature does not verify" };
  }
  return { reason: "this key did not sign it" };
}

function part(note: string): { readonly text: string; readonly signatures: string } | null {
  const gap = note.lastIndexOf("\n\n");
  if (gap < 0 || !note.endsWith("\n")) return null;
  const signatures = note.slice(gap + 2);
  return signatures === "" ? null : { text: note.slice(0, gap + 1), signatures };
}

function readCheckpoint(text: string): Checkpoint | null {
  const read = /^([^\n]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n/.exec(text);
  if (read === null) return null;
  const [, origin = "", size = "", encoded = ""] = read;
  try {
    return { origin, size: Number(size), root: fromBase64(encoded) };
  } catch {
    return null;
  }
}
