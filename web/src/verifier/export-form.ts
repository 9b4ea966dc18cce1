/** The form of an exported log: lines of canonical JSON, of which each can be written in one way only. */

import { decodeText, isJsonObject, type Json, type JsonObject, Malformed, parseJson, writeCanonical } from "./json.ts";

/** Bytes; the gateway's own limit. */
export const LINE_LIMIT = 64 * 1024 * 1024;

export type Kind = "log" | "descriptor" | "snapshot" | "leaf" | "checkpoint" | "anchor" | "end";

/** The members of each type of line after `type`, in their order. */
const MEMBERS: Readonly<Record<Kind, readonly string[]>> = {
  log: ["v", "key"],
  descriptor: ["digest", "body"],
  snapshot: ["digest", "body"],
  leaf: ["index", "hash", "body", "salt", "payload"],
  checkpoint: ["note"],
  anchor: ["evidence"],
  end: ["lines"],
};

/** Which types of line may stand after which. */
const AFTER: Readonly<Record<Kind | "", readonly Kind[]>> = {
  "": ["log"],
  log: ["descriptor", "snapshot", "leaf", "checkpoint", "anchor", "end"],
  descriptor: ["descriptor", "snapshot", "leaf", "checkpoint", "anchor", "end"],
  snapshot: ["snapshot", "leaf", "checkpoint", "anchor", "end"],
  leaf: ["leaf", "checkpoint", "anchor", "end"],
  checkpoint: ["leaf", "checkpoint", "anchor", "end"],
  anchor: ["anchor", "end"],
  end: [],
};

const NEWLINE = 0x0a;

/** Reads an export line by line from its beginning. */
export class ExportForm {
  /** The first line that is whole and does not fit the others; it counts only where the log itself is in order. */
  misplaced: { readonly line: number; readonly detail: string } | null = null;
  private last: Kind | "" = "";
  private lines = 0;
  private leaves = 0;
  private covered = 0;

  /** The next line, with its newline. Throws Malformed. */
  read(line: Uint8Array): void {
    if (line.length > LINE_LIMIT) throw new Malformed(`a line has at most ${LINE_LIMIT} bytes`);
    if (line.at(-1) !== NEWLINE) throw new Malformed("the file was cut off inside this line");
    const kind = kindOf(line);
    if (kind === null) throw new Malformed("it does not begin with a type of line that an export has");
    if (!AFTER[this.last].includes(kind)) {
      const where = this.last === "" ? "at the beginning" : `after \`${this.last}\``;
      throw new Malformed(`a line of type \`${kind}\` does not stand ${where}`);
    }
    this.check(kind, readWhole(kind, line));
    this.last = kind;
    this.lines++;
  }

  /** The end of the file. Of one without its last line nothing else is said: it may be in the part that is gone. */
  finish(): void {
    require(this.last !== "", "the file is empty");
    require(this.last === "end", "the file was cut off: the line of type `end` is missing");
  }

  private check(kind: Kind, members: JsonObject): void {
    switch (kind) {
      case "log":
        require(members.v === 2 || members.v === 3, "this export is of another version");
        require(typeof members.key === "string", "its `key` is no text");
        return;
      case "leaf":
        checkLeaf(members);
        this.place(this.covered <= this.leaves, "a checkpoint that covers this record stands before it");
        this.leaves++;
        return;
      case "checkpoint": {
        const { note } = members;
        if (typeof note !== "string") throw new Malformed("its `note` is no text");
        const size = /^[^\n]*\n([0-9]{1,16})\n/.exec(note)?.[1];
        const fits = size === undefined || Number(size) >= this.leaves;
        this.place(fits, "this checkpoint stands after records that it does not cover");
        this.covered = Number(size ?? 0);
        return;
      }
      case "anchor":
        require(isJsonObject(members.evidence), "its `evidence` is no object");
        return;
      case "end":
        this.place(members.lines === this.lines, "the number of lines is not the one that is written here");
        return;
      default:
        require(typeof members.digest === "string", "its `digest` is no text");
        require(isJsonObject(members.body), "its `body` is no object");
    }
  }

  private place(fits: boolean, detail: string): void {
    if (!fits && this.misplaced === null) this.misplaced = { line: this.lines + 1, detail };
  }
}

const STARTS = (Object.keys(MEMBERS) as Kind[]).map(
  (kind) => [kind, new TextEncoder().encode(`{"type":"${kind}"`)] as const,
);

/** The type that a line begins with. */
export function kindOf(line: Uint8Array): Kind | null {
  const found = STARTS.find(([, start]) => start.every((byte, place) => line[place] === byte));
  return found?.[0] ?? null;
}

/** A line of a file whose form was checked. */
export function readLine(line: Uint8Array): JsonObject {
  return JSON.parse(decodeText(line)) as JsonObject;
}

function readWhole(kind: Kind, line: Uint8Array): JsonObject {
  const text = decodeText(line.subarray(0, -1));
  const members = parseJson(text);
  const names = ["type", ...MEMBERS[kind]];
  if (!isJsonObject(members) || Object.keys(members).join() !== names.join()) {
    throw new Malformed("it has not the members of its type, in their order");
  }
  const again = names.map((name) => `${JSON.stringify(name)}:${writeCanonical(members[name] as Json)}`);
  if (`{${again.join()}}` !== text) throw new Malformed("this is no canonical JSON");
  return members;
}

function checkLeaf({ index, hash, body, salt, payload }: JsonObject): void {
  require(Number.isInteger(index) && Number(index) >= 0, "its `index` is no place in a log");
  require(typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash), "its `hash` is no SHA-256 digest");
  require(isJsonObject(body), "its `body` is no object");
  const salted = typeof salt === "string" && /^(?:[0-9a-f]{2}){0,64}$/.test(salt);
  require(salt === null || salted, "its `salt` is no bytes in hex");
  require(payload === null || isJsonObject(payload), "its `payload` is no object");
  require((salt === null) === (payload === null), "a payload and its salt are there together, or neither is");
}

function require(holds: boolean, detail: string): void {
  if (!holds) throw new Malformed(detail);
}
