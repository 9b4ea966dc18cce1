/** The newest records of an exported log whose check held. */

import { kindOf, LINE_LIMIT, readLine } from "../export-form.ts";
import type { JsonObject } from "../json.ts";
import { type ByteSource, type CheckProgress, readLines } from "../lines.ts";

/** Bytes of lines that are held; a single line may be longer. */
const HELD = 8 << 20;

/** So many at most, in the order of the log. */
export async function readNewest(
  source: ByteSource,
  most: number,
  progress?: CheckProgress,
): Promise<readonly JsonObject[]> {
  const held: Uint8Array[] = [];
  let bytes = 0;
  for await (const line of readLines(source, LINE_LIMIT, progress)) {
    if (kindOf(line) !== "leaf") continue;
    // A copy: a line is a part of a larger piece of the file, which it would keep.
    held.push(line.slice());
    bytes += line.length;
    while (held.length > most || (bytes > HELD && held.length > 1)) bytes -= held.shift()?.length ?? 0;
  }
  return held.map(readLine);
}
