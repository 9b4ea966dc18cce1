/** What a time stamp of RFC 3161 says: of which digest it is, and when it was made. Whose signature it has: ./stamp-signature.ts. */

import { equalBytes, writeHex } from "./bytes.ts";
import { held, list, needObjectNamed, objectName, only, TAGS, type Value, valuesIn } from "./der.ts";
import { encodeText, Malformed } from "./json.ts";

const SIGNED_DATA = "2a864886f70d010702";
export const STAMP_INFO = "2a864886f70d0109100104";
export const HASHES: ReadonlyMap<string, string> = new Map([
  ["608648016503040201", "SHA-256"],
  ["608648016503040202", "SHA-384"],
  ["608648016503040203", "SHA-512"],
]);

export interface TimeStamp {
  readonly isOf: (message: string) => Promise<boolean>;
  /** Seconds since 1970. */
  readonly at: number;
  /** The parts of the signed data that hold it (RFC 5652 section 5.1). */
  readonly signed: readonly Value[];
  /** What is signed. */
  readonly content: Uint8Array;
}

/** Throws Malformed for an answer that is no time stamp. */
export function readTimeStamp(answer: Uint8Array): TimeStamp {
  const response = list(only(answer));
  const status = list(response[0]);
  if (writeHex(held(status[0], TAGS.integer)) !== "00") throw new Malformed("the authority gave no time stamp");
  const token = list(response[1]);
  needObjectNamed(token[0], SIGNED_DATA);
  const signed = list(only(held(token[1], TAGS.first)));
  const named = list(signed[2]);
  needObjectNamed(named[0], STAMP_INFO);
  const content = held(only(held(named[1], TAGS.first)), TAGS.octets);
  const info = list(only(content));
  const imprint = list(info[2]);
  const hash = HASHES.get(objectName(list(imprint[0])[0]));
  if (hash === undefined) throw new Malformed("its digest is of no kind that is known");
  const digest = held(imprint[1], TAGS.octets);
  return {
    isOf: async (message) => equalBytes(new Uint8Array(await crypto.subtle.digest(hash, encodeText(message))), digest),
    at: readMoment(held(info[4], TAGS.time)),
    signed,
    content,
  };
}

/** Seconds since 1970. */
export function readMoment(raw: Uint8Array): number {
  const text = String.fromCharCode(...raw);
  const parts = /^([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})(?:\.[0-9]{1,9})?Z$/.exec(text);
  if (parts === null) throw new Malformed("it was made at no time");
  const [year, month, day, hour, minute, second] = parts.slice(1, 7);
  const moment = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const at = Date.parse(moment);
  // A day that is not in the calendar is taken for a later one.
  if (Number.isNaN(at) || year === "0000" || new Date(at).toISOString() !== moment) {
    throw new Malformed("it was made at no time");
  }
  return at / 1000;
}

/** The parts of a set, which DER has in one order. */
export function readSet(raw: Value | undefined, tag: number): readonly Value[] {
  const found = valuesIn(raw, tag);
  const names = found.map((each) => writeHex(each.raw));
  if (names.some((name, place) => place > 0 && name <= (names[place - 1] ?? ""))) {
    throw new Malformed("the parts of a set are in another order");
  }
  return found;
}
