import { isObject } from "../../../agent/parse.ts";
import { t } from "../../../language/t.ts";
import type { ConversationImport, ImportedMessage } from "../../../protocol/generated.ts";
import { readChatGpt } from "./chatgpt.ts";
import { readClaude } from "./claude.ts";
import { readCountersign } from "./countersign.ts";
import { readOpenWebUi } from "./open-webui.ts";

/** What a program wrote down of one conversation, before it is cut to what is taken. */
export interface TracedConversation {
  readonly title: unknown;
  readonly label?: unknown;
  readonly said: readonly TracedMessage[];
  /** Calls of tools, images and the like that are not words of the two. */
  readonly leftOut: number;
}

export interface TracedMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** Epoch milliseconds, where there are any. */
  readonly at: number | null;
}

/** A conversation of a file, as it would be imported, and what would not come along. */
export interface FoundConversation {
  readonly body: ConversationImport;
  readonly begunAt: string | null;
  readonly usedAt: string | null;
  /** Calls of tools, images and the like. */
  readonly leftOut: number;
  /** Messages at the beginning that there is no room for. */
  readonly cut: number;
}

export interface FoundConversations {
  readonly found: readonly FoundConversation[];
  /** Conversations without a word. */
  readonly empty: number;
  /** Conversations beyond those that are listed. */
  readonly beyond: number;
}

/** A file that holds nothing to import; `message` says why, to a person. */
export class UnreadableExport extends Error {
  override readonly name = "UnreadableExport";
}

export const MOST_FILE_BYTES = 64 * 1024 * 1024;
export const MOST_LISTED = 500;
const MOST_MESSAGES = 1_000;
/** The gateway takes a mebibyte; the rest is for what JSON puts around the words. */
const MOST_BYTES = 900_000;
const MOST_CHARACTERS = 100_000;
const TITLE_LENGTH = 200;

type Source = ConversationImport["source"];

const READERS: readonly (readonly [Source, (value: Readonly<Record<string, unknown>>) => TracedConversation | null])[] =
  [
    ["countersign", readCountersign],
    ["chatgpt", readChatGpt],
    ["claude", readClaude],
    ["openWebUi", readOpenWebUi],
  ];

/** What a file that a person picked holds of conversations. Raises UnreadableExport. */
export async function readConversations(file: Pick<File, "size" | "arrayBuffer">): Promise<FoundConversations> {
  if (file.size > MOST_FILE_BYTES)
    throw new UnreadableExport(
      t`This file has ${Math.round(file.size / 2 ** 20)} MB. At most ${MOST_FILE_BYTES / 2 ** 20} MB are read.`,
    );
  return findConversations(parse(decode(await file.arrayBuffer())));
}

function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableExport(t`This file is not text in UTF-8. Unpack it first if it is an archive.`);
  }
}

function parse(text: string): unknown {
  if (text.trim() === "") throw new UnreadableExport(t`This file is empty.`);
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableExport(t`This file is no JSON, or was cut off. Export it again, or unpack it first.`);
  }
}

function findConversations(value: unknown): FoundConversations {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const found: FoundConversation[] = [];
  let empty = 0;
  let foreign = 0;
  for (const each of values) {
    const read = readOne(each);
    if (read === null) foreign++;
    else if (read.body.messages.length === 0) empty++;
    else found.push(read);
  }
  if (found.length === 0)
    throw new UnreadableExport(
      empty > 0
        ? t`The conversations in this file have no words.`
        : t`No conversation was found in this file. Exports of Countersign, ChatGPT, Claude and Open WebUI are read.`,
    );
  found.sort((one, other) => (other.usedAt ?? "").localeCompare(one.usedAt ?? ""));
  return {
    found: found.slice(0, MOST_LISTED),
    empty: empty + foreign,
    beyond: Math.max(0, found.length - MOST_LISTED),
  };
}

function readOne(value: unknown): FoundConversation | null {
  if (!isObject(value)) return null;
  for (const [source, read] of READERS) {
    const traced = read(value);
    if (traced !== null) return cutToSize(source, traced);
  }
  return null;
}

/** The newest messages that there is room for. */
function cutToSize(source: Source, { title, label, said, leftOut }: TracedConversation): FoundConversation {
  const messages: ImportedMessage[] = [];
  let bytes = 0;
  for (const each of said.toReversed()) {
    const content = tidy(each.text)
      .slice(0, MOST_CHARACTERS)
      .replaceAll(/\p{Surrogate}/gu, "\ufffd");
    bytes += new TextEncoder().encode(JSON.stringify(content)).length + 80;
    if (messages.length === MOST_MESSAGES || bytes > MOST_BYTES) break;
    const at = timeOf(each.at);
    messages.push({ role: each.role, content, ...(at !== null && { at }) });
  }
  messages.reverse();
  const times = messages.flatMap(({ at = null }) => at ?? []);
  return {
    body: {
      source,
      title: titleOf(title, messages),
      messages: messages as ConversationImport["messages"],
      ...(isLabel(label) && { label }),
    },
    begunAt: times[0] ?? null,
    usedAt: times.at(-1) ?? null,
    leftOut,
    cut: said.length - messages.length,
  };
}

/** Without what moves a cursor, rings a bell or says nothing to anybody. */
function tidy(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

function titleOf(title: unknown, messages: readonly ImportedMessage[]): string {
  const named = typeof title === "string" && title.trim() !== "" ? title : (messages[0]?.content ?? "");
  const line = named.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ").trim();
  return Array.from(line).slice(0, TITLE_LENGTH).join("");
}

/** The protocol's form of a time; null for none, and for one that no calendar has. */
function timeOf(at: number | null): string | null {
  if (at === null || !(at >= 0 && at < 253_402_300_800_000)) return null;
  return new Date(at).toISOString();
}

function isLabel(label: unknown): label is NonNullable<ConversationImport["label"]> {
  return label === "public" || label === "internal" || label === "confidential" || label === "high";
}
