import limits from "../../../loop/limits.json" with { type: "json" };
import type { ChatDelta, CutReason } from "./chat.ts";
import { MAX_REPLY, ObjectScanner, ThoughtFilter } from "./parse.ts";
import type { CallDelta } from "./stream-calls.ts";

/* One reply of a model, read to its end: for the lanes and the planner alike. */

/** Calls of one reply that are read: as many as a message to the gateway can hold. */
export const MAX_CALLS = limits.callsPerReply;

/** Most pieces of one reply that are read, so that a model which gives nothing without end keeps nobody waiting. */
const MAX_PIECES = limits.replyPieces;

/** How far a reply is read. */
export type ReplyEnd =
  /** Until the model ends it. */
  | "stream"
  /** Until its first complete object. */
  | "object"
  /** Until something follows that object. A model that ends there by itself is let end, for its token counts come last. */
  | "after-object";

/** A piece of a reply, thinking parted from what is said. Both may be empty. */
interface HeardText {
  readonly thought: string;
  readonly said: string;
}

type Usage = Extract<ChatDelta, { kind: "usage" }>;

/** What was read of one reply. `written` is its text as it came, `said` the same without the thinking at its beginning. */
export class ReplyReader {
  written = "";
  said = "";
  readonly calls: { name: string; arguments: string }[] = [];
  usage: Usage | null = null;
  cut: CutReason | null = null;
  isOver = false;
  readonly #end: ReplyEnd;
  readonly #thoughts = new ThoughtFilter();
  readonly #scanner = new ObjectScanner();
  #isObjectComplete = false;
  #characters = 0;
  #pieces = 0;

  constructor(end: ReplyEnd) {
    this.#end = end;
  }

  /** Read on; what was heard if the piece is one of the text. */
  take(delta: ChatDelta): HeardText | null {
    switch (delta.kind) {
      case "usage":
        this.usage = delta;
        return null;
      case "cut":
        this.cut = delta.why;
        return null;
      case "call":
        this.#takeCall(delta);
        return null;
      case "text":
        return this.#takeText(delta.text);
    }
  }

  /** What was held back until the end, because it could have been part of a tag. */
  finish(): HeardText {
    const heard = this.#thoughts.finish();
    this.said += heard.said;
    return heard;
  }

  #takeCall({ index, name = "", arguments: given = "" }: CallDelta): void {
    const hasPlace = index >= 0 && index < MAX_CALLS;
    if (!hasPlace) this.cut = "calls";
    this.isOver = !this.#hasRoom(name.length + given.length) || !hasPlace;
    if (this.isOver) return;
    const call = this.calls[index] ?? { name: "", arguments: "" };
    this.calls[index] = call;
    call.name += name;
    call.arguments += given;
  }

  #takeText(text: string): HeardText | null {
    const hasRoom = this.#hasRoom(text.length);
    const heard = this.#thoughts.feed(text);
    const isAtEnd = this.#isAtEnd(heard.said);
    this.isOver = isAtEnd || !hasRoom;
    // What does not fit is left out, unless the object ends in it: that one is measured where it is read.
    if (!hasRoom && !isAtEnd) return null;
    this.written += text;
    this.said += heard.said;
    return heard;
  }

  /** Whether so many characters more still belong to a reply that anybody would read. */
  #hasRoom(characters: number): boolean {
    this.#pieces += 1;
    this.#characters += characters;
    return this.#characters <= MAX_REPLY && this.#pieces <= MAX_PIECES;
  }

  #isAtEnd(said: string): boolean {
    if (this.#end === "stream") return false;
    let follows = said;
    if (!this.#isObjectComplete) {
      const found = this.#scanner.feed(said);
      if (found === null) return false;
      this.#isObjectComplete = true;
      const soFar = this.said + said;
      follows = soFar.slice(soFar.indexOf(found) + found.length);
    }
    return this.#end === "object" || follows.trim() !== "";
  }
}

/**
 * Read a reply with `reader` to its end, or as far as that one reads; then, and whenever this is closed, close `deltas`. Gives
 * each piece of the text once the reader has it.
 */
export async function* readDeltas(
  deltas: AsyncIterable<ChatDelta>,
  reader: ReplyReader,
): AsyncGenerator<HeardText, void, undefined> {
  for await (const delta of deltas) {
    const heard = reader.take(delta);
    if (heard !== null) yield heard;
    if (reader.isOver) break;
  }
  yield reader.finish();
}
