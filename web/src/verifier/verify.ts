/** What a file is, and what the check of it says. */

import type { ByteSource, CheckProgress } from "./lines.ts";
import { checkExport } from "./log.ts";
import { checkReceipt, RECEIPT_LIMIT } from "./receipt.ts";
import type { Kept, Verdict } from "./verdict.ts";

export interface CheckedFile extends ByteSource {
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** Of every receipt, by version. */
const BEGINNINGS = ['{"anchors":', '{"call":'];

/** An export's lines begin with their type; everything else is checked as a receipt. */
export async function checkFile(file: CheckedFile, kept: Kept = {}, progress?: CheckProgress): Promise<Verdict> {
  const start = new TextDecoder().decode(await file.slice(0, 8).arrayBuffer());
  if (start === '{"type":') return checkExport(file, kept, progress);
  const raw = new Uint8Array(await file.slice(0, RECEIPT_LIMIT + 2).arrayBuffer());
  const verdict = await checkReceipt(raw, kept);
  // Whoever was handed the wrong file should not read that a receipt was tampered with.
  const meant = BEGINNINGS.some((each) => each === new TextDecoder().decode(raw.subarray(0, each.length)));
  return verdict.fault?.place === "file" && !meant ? { ...verdict, kind: "neither" } : verdict;
}
