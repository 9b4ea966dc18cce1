/** What a file is, and what the check of it says. */

import type { ByteSource, CheckProgress } from "./lines.ts";
import { checkExport } from "./log.ts";
import { checkReceipt, RECEIPT_LIMIT } from "./receipt.ts";
import type { Kept, Verdict } from "./verdict.ts";

export interface CheckedFile extends ByteSource {
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** An export's lines begin with their type; everything else is meant as a receipt. */
export async function checkFile(file: CheckedFile, kept: Kept = {}, progress?: CheckProgress): Promise<Verdict> {
  const start = new TextDecoder().decode(await file.slice(0, 8).arrayBuffer());
  if (start === '{"type":') return checkExport(file, kept, progress);
  const raw = await file.slice(0, RECEIPT_LIMIT + 2).arrayBuffer();
  return checkReceipt(new Uint8Array(raw), kept);
}
