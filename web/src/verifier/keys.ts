/** The keys of a log: each handed over to the next by a record that both of them signed. */

import { type JsonObject, Malformed } from "./json.ts";
import { findSignatureFault, readKey, type VerificationKey } from "./note.ts";
import { Found } from "./verdict.ts";

export const ROTATED = "audit-key:rotated";

const FORM = "countersign audit key rotation v1";

/** A record of that event, with what a fault calls it. */
export interface Rotation {
  readonly index: number;
  readonly place: string;
  readonly body: JsonObject;
}

export class KeyHistory {
  /** Oldest first. */
  readonly keys: readonly VerificationKey[];
  private readonly places: readonly number[];

  constructor(keys: readonly VerificationKey[], places: readonly number[]) {
    this.keys = keys;
    this.places = places;
  }

  /** The key that signs a checkpoint over that many records. */
  at(size: number): VerificationKey {
    const later = this.places.findIndex((place) => place >= size);
    return this.keys.at(later < 0 ? -1 : later) as VerificationKey;
  }

  has(line: string): boolean {
    return this.keys.some((key) => key.line === line);
  }
}

/** The keys of a log that says that `newest` is its key. Throws Found for a key that was not handed over to. */
export async function readKeyHistory(rotations: readonly Rotation[], newest: VerificationKey): Promise<KeyHistory> {
  const keys: VerificationKey[] = [];
  const places: number[] = [];
  for (const { index, place, body } of rotations) {
    const { fromKey, toKey, fromSignature, toSignature } = body;
    if (
      typeof fromKey !== "string" ||
      typeof toKey !== "string" ||
      typeof fromSignature !== "string" ||
      typeof toSignature !== "string"
    ) {
      throw new Found(`${place}.fromKey`, "a rotation names two keys and has two signatures");
    }
    const before = await tryKey(fromKey);
    if (before === null || (keys.length > 0 && before.line !== keys.at(-1)?.line)) {
      throw new Found(`${place}.fromKey`, "the key that it hands over from is not the one that the log had");
    }
    if (keys.length === 0) keys.push(before);
    const after = await tryKey(toKey);
    if (after === null || after.name !== before.name || keys.some(({ line }) => line === after.line)) {
      throw new Found(`${place}.toKey`, "the key that it hands over to is no new key of this log");
    }
    const text = `${FORM}\n${fromKey}\n${toKey}\n`;
    for (const [key, signature, name] of [
      [before, fromSignature, "fromSignature"],
      [after, toSignature, "toSignature"],
    ] as const) {
      const fault = await findSignatureFault(text, signature, key);
      if (fault !== null) throw new Found(`${place}.${name}`, `the key was not handed over: ${fault.reason}`);
    }
    keys.push(after);
    places.push(index);
  }
  if (keys.length > 0 && keys.at(-1)?.line !== newest.line) {
    throw new Found("key", "the last key that was handed over to is not the one that is named");
  }
  return new KeyHistory(keys.length > 0 ? keys : [newest], places);
}

async function tryKey(line: string): Promise<VerificationKey | null> {
  try {
    return await readKey(line);
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}
