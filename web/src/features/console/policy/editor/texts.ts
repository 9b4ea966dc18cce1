import { MAX_MESSAGE_BYTES } from "../../../../protocol/codes.ts";
import type { PolicyDocument } from "../../../../protocol/generated.ts";
import { type ComparedLine, compareLines } from "../../sources/difference.ts";

/** The texts of a policy by file name. */
export type Texts = Readonly<Record<string, string>>;

/** The file that says what rules may look at. */
export const SCHEMA = "schema.cedarschema";

/** As the gateway sends them. */
export function textsOf(documents: readonly PolicyDocument[]): Texts {
  return Object.fromEntries(documents.map(({ name, text }) => [name, text]));
}

/** As the gateway takes them; undefined where there is none to send. */
export function documentsOf(texts: Texts): [PolicyDocument, ...PolicyDocument[]] | undefined {
  const [first, ...others] = Object.entries(texts).map(([name, text]) => ({ name, text }));
  return first && [first, ...others];
}

/** Left of a message for the rest of a request: its method, a reason, an id. */
const BESIDE_BYTES = 8 * 1024;

/** How large a draft may be to be sent, in bytes. */
export const MOST_BYTES = MAX_MESSAGE_BYTES - BESIDE_BYTES;

/** How many bytes a draft takes in a message: line ends and quotation marks take two. */
export function bytesOf(texts: Texts): number {
  return new TextEncoder().encode(JSON.stringify(documentsOf(texts) ?? [])).length;
}

/** A file of a draft that is not as it is in force. */
export interface ChangedFile {
  readonly name: string;
  readonly lines: readonly ComparedLine[];
}

/** Lines kept around a change, so that it can be placed. */
const AROUND = 3;

/** File by file, the changed lines with those around them. */
export function changedFiles(before: Texts, after: Texts): readonly ChangedFile[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => ({ name, lines: nearChanges(compareLines(linesOf(before[name]), linesOf(after[name]))) }));
}

function linesOf(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split("\n");
}

function nearChanges(lines: readonly ComparedLine[]): readonly ComparedLine[] {
  const near = new Set<number>();
  for (const [index, { mark }] of lines.entries()) {
    if (mark === "same") continue;
    for (let at = index - AROUND; at <= index + AROUND; at += 1) near.add(at);
  }
  return lines.filter((_, index) => near.has(index));
}

/** Whether a name is one that a file of a policy may have. */
export function isFileName(name: string): boolean {
  return /^([\w.-]+\.cedar|cases\/[\w.-]+\.toml)$/.test(name);
}

/** Where a line and column, both from 1, stand in a text. */
export function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let passed = 1; passed < line; passed += 1) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  return Math.min(start + column - 1, text.length);
}
