import { t } from "../../../language/t.ts";
import { CheckFailed, Refusal } from "../errors.ts";

/** Value and words of each format that the gateway writes. */
export const EXPORT_FORMATS: readonly (readonly [string, string])[] = [
  ["csv", t`Spreadsheet (CSV)`],
  ["jsonl", t`JSON lines`],
  ["parquet", "Parquet"],
  ["ocsf", t`OCSF 1.9 (security monitoring)`],
  ["cef", t`CEF (log search)`],
];

const NEWLINE = 10;

export interface ExportedFile {
  readonly name: string;
  readonly content: Blob;
  readonly calls: number;
}

/** What a Parquet file begins and ends with. */
const PARQUET = "PAR1";

/**
 * The whole file, as it comes in. Every format but Parquet has one line for each call, and the gateway says before how many there
 * are: one with fewer was cut off on its way, and is not kept. Parquet has an end that nothing else looks like.
 */
export async function readExport(
  answer: Response,
  onProgress: (done: number, total: number) => void,
): Promise<ExportedFile> {
  if (!answer.ok || answer.body === null) throw await refusalOf(answer);
  const total = Number(answer.headers.get("countersign-calls"));
  const [, name = "calls"] = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "") ?? [];
  // The names of a spreadsheet's columns are no call.
  let calls = name.endsWith(".csv") ? -1 : 0;
  let ending = "";
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader = answer.body.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(piece.value);
    ending = (ending + String.fromCharCode(...piece.value.subarray(-PARQUET.length))).slice(-PARQUET.length);
    calls += piece.value.reduce((lines, byte) => (byte === NEWLINE ? lines + 1 : lines), 0);
    onProgress(Math.min(Math.max(calls, 0), total), total);
  }
  const content = new Blob(pieces, { type: answer.headers.get("content-type") ?? "" });
  if (name.endsWith(".parquet")) calls = content.size > 2 * PARQUET.length && ending === PARQUET ? total : -1;
  if (calls < total) throw new CheckFailed(t`The export was cut off on its way, and nothing was kept. Try again.`);
  return { name, content, calls };
}

async function refusalOf(answer: Response): Promise<Error> {
  const body: unknown = await answer.json().catch(() => undefined);
  const {
    code = "",
    reason = code,
    message = "",
  } = (body as { error?: { code?: string; reason?: string; message?: string } } | undefined)?.error ?? {};
  return new Refusal(reason, message, answer.status);
}
