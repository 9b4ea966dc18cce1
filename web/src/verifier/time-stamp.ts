/** What a time stamp of RFC 3161 says: of which digest it is, and when it was made. Whose signature it has is not looked at. */

import { equalBytes, writeHex } from "./bytes.ts";
import { encodeText, Malformed } from "./json.ts";

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTETS = 0x04;
const OBJECT = 0x06;
const TIME = 0x18;
const FIRST = 0xa0;

const SIGNED_DATA = "2a864886f70d010702";
const STAMP_INFO = "2a864886f70d0109100104";
const HASHES = new Map([
  ["608648016503040201", "SHA-256"],
  ["608648016503040202", "SHA-384"],
  ["608648016503040203", "SHA-512"],
]);

export interface TimeStamp {
  readonly isOf: (message: string) => Promise<boolean>;
  /** Seconds since 1970. */
  readonly at: number;
}

interface Value {
  readonly tag: number;
  readonly held: Uint8Array;
}

/** Throws Malformed for an answer that is no time stamp. */
export function readTimeStamp(answer: Uint8Array): TimeStamp {
  const response = list(only(answer), SEQUENCE);
  const status = list(response[0], SEQUENCE);
  if (writeHex(held(status[0], INTEGER)) !== "00") throw new Malformed("the authority gave no time stamp");
  const token = list(response[1], SEQUENCE);
  needObject(token[0], SIGNED_DATA);
  const signed = list(only(held(token[1], FIRST)), SEQUENCE);
  const content = list(signed[2], SEQUENCE);
  needObject(content[0], STAMP_INFO);
  const info = list(only(held(only(held(content[1], FIRST)), OCTETS)), SEQUENCE);
  const imprint = list(info[2], SEQUENCE);
  const hash = HASHES.get(writeHex(held(list(imprint[0], SEQUENCE)[0], OBJECT)));
  if (hash === undefined) throw new Malformed("its digest is of no kind that is known");
  const digest = held(imprint[1], OCTETS);
  return {
    isOf: async (message) => equalBytes(new Uint8Array(await crypto.subtle.digest(hash, encodeText(message))), digest),
    at: readMoment(held(info[4], TIME)),
  };
}

function readMoment(raw: Uint8Array): number {
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

function needObject(value: Value | undefined, name: string): void {
  if (writeHex(held(value, OBJECT)) !== name) throw new Malformed("this is no time stamp");
}

/** All values in one of that tag. */
function list(value: Value | undefined, tag: number): readonly Value[] {
  const found: Value[] = [];
  let raw = held(value, tag);
  while (raw.length > 0) {
    const [each, rest] = split(raw);
    found.push(each);
    raw = rest;
  }
  return found;
}

function only(raw: Uint8Array): Value {
  const [value, rest] = split(raw);
  if (rest.length > 0) throw new Malformed("something follows a value");
  return value;
}

function held(value: Value | undefined, tag: number): Uint8Array {
  if (value?.tag !== tag) throw new Malformed("a value is missing, or another one");
  return value.held;
}

/** The first value, and what follows it. A length has one spelling, of at most four bytes. */
function split(raw: Uint8Array): readonly [Value, Uint8Array] {
  const [tag, first] = raw;
  if (tag === undefined || first === undefined) throw new Malformed("a value was cut off");
  let length = first;
  let start = 2;
  if (first > 0x7f) {
    const spelled = raw.subarray(2, 2 + first - 0x80);
    if (spelled.length === 0 || spelled.length > 3 || spelled.length !== first - 0x80 || spelled[0] === 0) {
      throw new Malformed("a length is spelled in another way");
    }
    length = spelled.reduce((sum, byte) => sum * 256 + byte, 0);
    if (length <= 0x7f) throw new Malformed("a length is spelled in another way");
    start += spelled.length;
  }
  if (start + length > raw.length) throw new Malformed("a value was cut off");
  return [{ tag, held: raw.subarray(start, start + length) }, raw.subarray(start + length)];
}
