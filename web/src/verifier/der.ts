/** DER, as far as time stamps and certificates need it: values of one byte's tag, one after another. */

import { writeHex } from "./bytes.ts";
import { Malformed } from "./json.ts";

export const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  object: 0x06,
  utcTime: 0x17,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  first: 0xa0,
  second: 0xa1,
  fourth: 0xa3,
} as const;

export interface Value {
  readonly tag: number;
  readonly held: Uint8Array;
  /** All its bytes. */
  readonly raw: Uint8Array;
}

export const list = (value: Value | undefined): readonly Value[] => valuesIn(value, TAGS.sequence);

/** All values in one of that tag. */
export function valuesIn(value: Value | undefined, tag: number): readonly Value[] {
  return readValues(held(value, tag));
}

export function readValues(raw: Uint8Array): readonly Value[] {
  const found: Value[] = [];
  let rest = raw;
  while (rest.length > 0) {
    const each = first(rest);
    found.push(each);
    rest = rest.subarray(each.raw.length);
  }
  return found;
}

export function only(raw: Uint8Array): Value {
  const value = first(raw);
  if (value.raw.length < raw.length) throw new Malformed("something follows a value");
  return value;
}

export function held(value: Value | undefined, tag: number): Uint8Array {
  if (value?.tag !== tag) throw new Malformed("a value is missing, or another one");
  return value.held;
}

/** The name of an object, as its bytes in hexadecimal. */
export function objectName(value: Value | undefined): string {
  return writeHex(held(value, TAGS.object));
}

export function needObjectNamed(value: Value | undefined, name: string): void {
  if (objectName(value) !== name) throw new Malformed("this is another object");
}

export function needLength(values: readonly Value[], least: number, most = least): void {
  if (values.length < least || values.length > most) throw new Malformed("there are more values, or fewer");
}

/** A length has one spelling, of at most four bytes. */
function first(raw: Uint8Array): Value {
  const [tag, size] = raw;
  if (tag === undefined || size === undefined) throw new Malformed("a value was cut off");
  let length = size;
  let start = 2;
  if (size > 0x7f) {
    const spelled = raw.subarray(2, 2 + size - 0x80);
    if (spelled.length === 0 || spelled.length > 3 || spelled.length !== size - 0x80 || spelled[0] === 0) {
      throw new Malformed("a length is spelled in another way");
    }
    length = spelled.reduce((sum, byte) => sum * 256 + byte, 0);
    if (length <= 0x7f) throw new Malformed("a length is spelled in another way");
    start += spelled.length;
  }
  const end = start + length;
  if (end > raw.length) throw new Malformed("a value was cut off");
  return { tag, held: raw.subarray(start, end), raw: raw.subarray(0, end) };
}
