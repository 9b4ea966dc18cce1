/** A file's lines, read piece by piece, so that a long file needs little memory. */

import type { Bytes } from "./bytes.ts";

/** What is read: a File of the browser, or the same of Node. */
export interface ByteSource {
  readonly size: number;
  stream(): ReadableStream<Bytes>;
}

/** Told how much of how much was done. What it gives is waited for, and what it throws ends the check. */
export type CheckProgress = (done: number, size: number) => Promise<void> | void;

const NEWLINE = 0x0a;

/**
 * Each line with its newline; the last may have none. `longest` bounds a line: a longer one is given one byte too long, and
 * nothing after it.
 */
export async function* readLines(
  source: ByteSource,
  longest: number,
  progress?: CheckProgress,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let length = 0;
  let done = 0;
  const reader = source.stream().getReader();
  try {
    for (;;) {
      const { done: over, value: piece } = await reader.read();
      if (over) break;
      let from = 0;
      for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
        yield join(held, piece.subarray(from, end + 1), length);
        held = [];
        length = 0;
        from = end + 1;
      }
      const rest = piece.subarray(from);
      held.push(rest);
      length += rest.length;
      if (length > longest) {
        yield join(held, new Uint8Array(), length).subarray(0, longest + 1);
        return;
      }
      done += piece.length;
      await progress?.(done, source.size);
    }
    if (length > 0) yield join(held, new Uint8Array(), length);
  } finally {
    await reader.cancel();
  }
}

function join(held: readonly Uint8Array[], last: Uint8Array, length: number): Uint8Array {
  if (length === 0) return last;
  const line = new Uint8Array(length + last.length);
  let at = 0;
  for (const piece of [...held, last]) {
    line.set(piece, at);
    at += piece.length;
  }
  return line;
}
