import { isObject } from "../../agent/parse.ts";
import { t } from "../../language/t.ts";
import type { ConversationExport } from "../../protocol/generated.ts";
import { writeMarkdown } from "./conversation-markdown.ts";
import type { OpenConversation } from "./open-conversation.ts";
import type { KeptTexts } from "./shell-environment.ts";
import type { shrinkImage } from "./shrink-image.ts";

/** A file that goes with the next message. `data` are its bytes in base64, as the gateway takes them. */
export interface PendingFile {
  readonly name: string;
  readonly bytes: number;
  readonly data: string;
  /** Of an image, which only models that see are shown. */
  readonly mediaType?: string;
}

/** Draws an image anew so that it has at most so many bytes, or says why not. */
export type ShrinkImage = typeof shrinkImage;

/** What may be attached to one message. A message of the protocol has room for one file of the greatest size. */
export const MOST_FILES = 5;
const MOST_BYTES = 120 * 1024;
const MOST_IMAGE_BYTES = 25 * 1024 * 1024;
const NAME_LENGTH = 200;

/** A file as a browser hands it over. */
export type GivenFile = Pick<File, "name" | "size" | "type" | "arrayBuffer">;

/** The files that go with the next message of a conversation. They survive a reload, in this browser only. */
export class PendingFiles {
  readonly #kept: KeptTexts;
  readonly #known = new Map<string | null, readonly PendingFile[]>();

  readonly #shrink: ShrinkImage;

  constructor(kept: KeptTexts, shrink: ShrinkImage) {
    this.#kept = kept;
    this.#shrink = shrink;
  }

  of(conversationId: string | null): readonly PendingFile[] {
    const known = this.#known.get(conversationId) ?? readStored(this.#kept.read(nameOf(conversationId)));
    this.#known.set(conversationId, known);
    return known;
  }

  /** What was attached to a conversation that had not begun goes with it now. */
  move(from: string | null, to: string): void {
    this.#write(to, this.of(from));
    this.#write(from, []);
  }

  /** Have the gateway take them in, one after the other. What it does not take stays here, and the message is not sent. */
  async sendTo(conversation: Pick<OpenConversation, "id" | "attach">): Promise<boolean> {
    for (;;) {
      const [file] = this.of(conversation.id);
      if (file === undefined) return true;
      if (!(await conversation.attach(file.name, file.data))) return false;
      this.remove(conversation.id, 0);
    }
  }

  /** Take files in; gives why one of them was not, in words. */
  async add(conversationId: string | null, files: readonly GivenFile[]): Promise<string | null> {
    let problem: string | null = null;
    for (const file of files) {
      const why =
        this.of(conversationId).length >= MOST_FILES ? t`At most ${MOST_FILES} files go with a message.` : null;
      const read = why === null ? await readFile(file, this.#shrink) : { problem: why };
      if ("problem" in read) problem = read.problem;
      else this.#write(conversationId, [...this.of(conversationId), read]);
    }
    return problem;
  }

  remove(conversationId: string | null, place: number): void {
    this.#write(
      conversationId,
      this.of(conversationId).filter((_, index) => index !== place),
    );
  }

  #write(conversationId: string | null, files: readonly PendingFile[]): void {
    this.#known.set(conversationId, files);
    this.#kept.write(nameOf(conversationId), files.length === 0 ? "" : JSON.stringify(files));
  }
}

/** Anything may stand in a browser's storage. */
function readStored(text: string): readonly PendingFile[] {
  try {
    const stored: unknown = JSON.parse(text);
    return Array.isArray(stored) ? stored.filter(isPendingFile) : [];
  } catch {
    return [];
  }
}

function nameOf(conversationId: string | null): string {
  return `files:${conversationId ?? "new"}`;
}

async function readFile(file: GivenFile, shrink: ShrinkImage): Promise<PendingFile | { readonly problem: string }> {
  const name = file.name.slice(-NAME_LENGTH) || "unnamed";
  if (file.size > MOST_IMAGE_BYTES) return { problem: t`${name} is too large.` };
  if (isImage(file)) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (!hasImageBytes(bytes)) return { problem: t`${name} is no PNG, JPEG or WebP image.` };
    const drawn = await shrink(name, bytes, MOST_BYTES);
    if (typeof drawn === "string") return { problem: drawn };
    return { name, bytes: drawn.bytes.length, data: toBase64(drawn.bytes), mediaType: drawn.mediaType };
  }
  if (file.size > MOST_BYTES)
    return { problem: t`${name} is too large: at most ${MOST_BYTES / 1024} KB of text can be attached.` };
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) throw new TypeError("no text has this character");
    const imported = readExport(text);
    if (imported !== null) return imported;
  } catch {
    return {
      problem: t`${name} is not text. Text, CSV, Markdown, JSON, code and images (PNG, JPEG, WebP) can be attached.`,
    };
  }
  return { name, bytes: bytes.length, data: toBase64(bytes) };
}

/** A drawing in SVG is text, and is taken as such: nobody is shown it as a picture. */
function isImage({ type }: GivenFile): boolean {
  return type.startsWith("image/") && type !== "image/svg+xml";
}

/** What it is called is no matter: it is by its first bytes that it is decoded. */
function hasImageBytes(bytes: Uint8Array): boolean {
  const head = String.fromCharCode(...bytes.subarray(0, 14));
  return head.startsWith("\x89PNG\r\n\x1a\n") || head.startsWith("\xff\xd8\xff") || /^RIFF[\s\S]{4}WEBPVP/.test(head);
}

/** An exported conversation as people read it; null for every other text. What it says is somebody's claim, as in any file. */
function readExport(text: string): PendingFile | null {
  try {
    const exported: unknown = JSON.parse(text);
    if (!isObject(exported) || exported.format !== "countersign.conversation.v1") return null;
    const told = exported as unknown as ConversationExport;
    const bytes = new TextEncoder().encode(writeMarkdown(told));
    const name = `${told.conversation.title || "conversation"}.md`.slice(-NAME_LENGTH);
    return bytes.length > MOST_BYTES ? null : { name, bytes: bytes.length, data: toBase64(bytes) };
  } catch {
    // Not one of ours after all.
    return null;
  }
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // In pieces, for a call takes only so many arguments.
  for (let start = 0; start < bytes.length; start += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return btoa(binary);
}

function isPendingFile(value: unknown): value is PendingFile {
  const file = value as Partial<PendingFile> | null;
  return (
    typeof file?.name === "string" && typeof file.bytes === "number" && typeof file.data === "string" && isPicture(file)
  );
}

function isPicture({ mediaType }: Partial<PendingFile>): boolean {
  return mediaType === undefined || mediaType === "image/jpeg";
}
