import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import canonicalize from "canonicalize";
import { describe, expect, test } from "vitest";
import faults from "../../../src/language/de/verifier-faults.json" with { type: "json" };
import { RECORDED_EVENTS } from "../../../src/verifier/events.ts";
import { checkExport } from "../../../src/verifier/log.ts";
import type { Kept } from "../../../src/verifier/verdict.ts";
import { checkFile } from "../../../src/verifier/verify.ts";
import { wordingFrom } from "../../../src/verifier/wording.ts";

/** What tests/audit_vectors.py wrote: receipts and a log of a running gateway, changes to them, and what its own verifier found. */
const folder = fileURLToPath(new URL("../../../../tests/vectors/audit/", import.meta.url));

type Raw = Buffer<ArrayBufferLike>;
type Step = readonly [name: string, ...rest: unknown[]];
type Path = readonly (string | number)[];

interface Change {
  readonly file: string;
  readonly steps: readonly Step[];
  readonly every?: boolean;
  readonly kept?: Omit<Kept, "authority"> & { readonly authority?: string };
  readonly place: string | null;
  /** Where the sentence is the same too. */
  readonly detail?: string | null;
}

const german = wordingFrom(faults);

const files = new Map<string, Raw>();

function read(name: string): Raw {
  const held = files.get(name) ?? readFileSync(folder + name);
  files.set(name, held);
  return held;
}

/** A file beside the others by its name, or itself in base64. */
function readAuthority(kept: string | undefined): Raw | undefined {
  if (kept === undefined) return undefined;
  return kept.endsWith(".pem") ? read(kept) : Buffer.from(kept, "base64");
}

function write(raw: Raw, path: Path, value?: unknown): Raw {
  const whole = JSON.parse(raw.toString());
  const last = path.at(-1) ?? "";
  let target = whole;
  for (const step of path.slice(0, -1)) target = target[step];
  if (value !== undefined) target[last] = value;
  else if (Array.isArray(target)) target.splice(Number(last), 1);
  else delete target[last];
  return Buffer.from(canonicalize(whole) ?? "");
}

function takeLine(raw: Raw, name: string, one: unknown, other: unknown): Raw {
  const lines = raw
    .toString("latin1")
    .split(/(?<=\n)/)
    .map((line): Raw => Buffer.from(line, "latin1"));
  const at = Number(one);
  if (name === "line") lines[at] = Buffer.from(`${String(other)}\n`);
  else if (name === "drop") lines.splice(at, 1);
  else if (name === "double") lines.splice(at, 0, lines[at] as Raw);
  else if (name === "swap") [lines[at], lines[Number(other)]] = [lines[Number(other)] as Raw, lines[at] as Raw];
  else if (name === "append") lines.splice(-1, 0, Buffer.from(`${String(one)}\n`));
  else if (name === "count") lines[lines.length - 1] = Buffer.from(`{"type":"end","lines":${lines.length - 1}}\n`);
  else if (name === "without")
    return Buffer.concat(lines.filter((line) => !line.toString().startsWith(`{"type":"${String(one)}"`)));
  else throw new Error(name);
  return Buffer.concat(lines);
}

function take(raw: Raw, [name, ...rest]: Step): Raw {
  const [one, other, text] = rest;
  switch (name) {
    case "flip": {
      const changed = Buffer.from(raw);
      changed[Number(one)] = (changed[Number(one)] ?? 0) ^ (1 << Number(other));
      return changed;
    }
    case "cut":
      return raw.subarray(0, Number(one));
    case "splice":
      return Buffer.concat([raw.subarray(0, Number(one)), Buffer.from(String(text)), raw.subarray(Number(other))]);
    case "set":
      return write(raw, one as Path, other);
    case "remove":
      return write(raw, one as Path);
    default:
      return takeLine(raw, name, one, other);
  }
}

const changes: readonly Change[] = [
  "changes.jsonl",
  "key_changes.jsonl",
  "anchor_changes.jsonl",
  "stamp_changes.jsonl",
  "type_changes.jsonl",
].flatMap((name) =>
  read(name)
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line)),
);

describe("the page's verifier and the gateway's", () => {
  test("know the same events", () => {
    expect([...RECORDED_EVENTS].sort()).toEqual(JSON.parse(read("events.json").toString()));
  });

  test.each(["log.jsonl", "anchored.jsonl", "rotated.jsonl"])(
    "tell of %s, cut anywhere, that it was cut",
    async (name) => {
      const raw = read(name);
      const whole = "the file was cut off: the line of type `end` is missing";
      const inside = "the file was cut off inside this line";
      const different: unknown[] = [];
      for (let start = 0, number = 1; start < raw.length; number++) {
        const end = raw.indexOf("\n", start) + 1;
        for (const size of [start, (start + end) >> 1, end - 1]) {
          const { fault } = await checkExport(new Blob([raw.subarray(0, size) as Uint8Array<ArrayBuffer>]));
          const detail = size === 0 ? "the file is empty" : size === start ? whole : inside;
          if (fault?.place !== `line ${number}` || fault.detail !== detail) different.push({ number, size, fault });
        }
        start = end;
      }
      expect(different).toEqual([]);
    },
  );

  test("name the same place in every changed receipt and log", { timeout: 300_000 }, async () => {
    expect(changes.length).toBeGreaterThan(1000);
    const different: unknown[] = [];
    const untold = new Set<string>();
    for (const [number, change] of changes.entries()) {
      const raw = change.steps.reduce<Raw>(take, read(change.file));
      const verdict = await checkFile(new Blob([raw as Uint8Array<ArrayBuffer>]), {
        ...change.kept,
        authority: readAuthority(change.kept?.authority),
        everySignature: change.every,
      });
      const { place = null, detail = null } = verdict.fault ?? {};
      if (detail !== null && german(detail) === detail) untold.add(detail.replaceAll(/`[^`]*`|\d+/g, "…"));
      if (place !== change.place || detail !== (change.detail === undefined ? detail : change.detail)) {
        const steps = JSON.stringify(change.steps).slice(0, 300);
        different.push({ number, steps, expected: [change.place, change.detail], found: verdict.fault });
      }
    }
    expect(different).toEqual([]);
    expect([...untold], "faults without a German sentence").toEqual([]);
  });
});
