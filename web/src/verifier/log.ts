/** A whole exported log: its form, the tree under its checkpoints, payloads, rules, and passkeys' signatures. */

import { type Anchored, checkEvidence, requireTrusted } from "./anchors.ts";
import { type Bytes, digestOf, equalBytes, fromHex, hash, writeHex } from "./bytes.ts";
import { Erasures } from "./erasures.ts";
import { ExportForm, type Kind, kindOf, LINE_LIMIT, readLine } from "./export-form.ts";
import {
  canonicalBytes,
  isJsonObject,
  isList,
  type Json,
  type JsonObject,
  Malformed,
  member,
  writeCanonical,
} from "./json.ts";
import { KeyHistory, ROTATED, type Rotation, readKeyHistory } from "./keys.ts";
import { type ByteSource, type CheckProgress, readLines } from "./lines.ts";
import { type Checkpoint, openNote, readKey, readNote, type VerificationKey } from "./note.ts";
import { type OfferedTool, Rules, readOffer } from "./rules.ts";
import { SignedAnswers } from "./signed-answers.ts";
import { hashLeaf, Tree } from "./tree.ts";
import { CheckCourse, count, Found, type Kept, type Verdict } from "./verdict.ts";

const TITLES = {
  form: "Form of every line",
  key: "Key",
  snapshots: "Tools that were on offer",
  anchors: "Anchors: who else has signed for the log",
  records: "Records under their checkpoints, and the checkpoints' signatures",
  payloads: "Payloads",
  rules: "Rules of the log: consent before intent, intent before the act",
  signatures: "Passkeys' signatures",
  whole: "Nothing lost, nothing in another place",
} as const;

/** Finds ASCII in bytes: any of them is a character to it. */
const LATIN_1 = new TextDecoder("latin1");

/** A checkpoint that somebody else has of the log, and what a fault calls it. */
interface Elsewhere {
  readonly size: number;
  readonly root: Bytes;
  readonly place: string;
}

interface Leaf {
  readonly index: number;
  readonly hash: Bytes;
  readonly body: JsonObject;
  readonly salt: Bytes | null;
  readonly payload: JsonObject | null;
}

/** The file is checked twice at most: once with the newest checkpoint's signature, which covers all records, and with all of them
 * where something is wrong, to name the first bad one. */
export async function checkExport(
  source: ByteSource,
  kept: Kept = {},
  progress: CheckProgress = () => {},
): Promise<Verdict> {
  const verdict = await new Check(source, kept, progress, kept.everySignature !== true).run();
  const again = verdict.fault !== null && kept.everySignature !== true;
  return again ? new Check(source, kept, progress, false).run() : verdict;
}

class Check {
  private readonly source: ByteSource;
  private readonly kept: Kept;
  private readonly progress: CheckProgress;
  private readonly newestOnly: boolean;
  private readonly course = new CheckCourse(TITLES);
  private readonly tree = new Tree();
  private readonly found = { key: "", signatures: 0, withheld: 0, erased: 0, anchored: false };
  private readonly answers = new SignedAnswers();
  private readonly erasures = new Erasures(true);
  private rules = new Rules(new Map(), true);
  private checkpoints = 0;
  private readonly rotations: Rotation[] = [];
  private anchors: readonly Anchored[] = [];
  /** By size; those that were found in the log are taken out. */
  private elsewhere: Elsewhere[] = [];
  private ahead: string | null = null;
  /** Records that the next checkpoint is to cover. What it does not, nobody is to believe. */
  private stretch: Leaf[] = [];

  constructor(source: ByteSource, kept: Kept, progress: CheckProgress, newestOnly: boolean) {
    this.source = source;
    this.kept = kept;
    this.progress = progress;
    this.newestOnly = newestOnly;
  }

  async run(): Promise<Verdict> {
    let fault: Found | null = null;
    try {
      await this.checkAll();
    } catch (error) {
      if (!(error instanceof Found)) throw error;
      fault = error;
    }
    return {
      kind: "export",
      fault: fault?.fault ?? null,
      parts: this.course.parts(fault?.fault ?? null),
      ...this.found,
      size: this.tree.size,
      root: writeHex(this.tree.root()),
      signatures: this.answers.signatures,
      anchors: this.anchors.map(({ sentence }) => sentence),
    };
  }

  private async checkAll(): Promise<void> {
    this.course.begin("form");
    const { misplaced, lines } = await this.checkForm();
    this.course.hold("form", count(lines, "line"));

    this.course.begin("key");
    const keys = await this.readKeys();
    const key = keys.keys.at(-1) as VerificationKey;
    this.found.key = key.line;
    const handed = keys.keys.length > 1 ? `; the last of ${keys.keys.length} that were handed over` : "";
    const whose = this.kept.key === undefined ? "taken from the file" : "the one you gave";
    this.course.hold("key", `${key.name}; ${whose}${handed}`);

    this.course.begin("snapshots");
    const offers = await this.readOffers();
    this.course.hold("snapshots", count(offers.size, "snapshot"));
    this.rules = new Rules(offers, true);

    this.course.begin("anchors");
    await this.readElsewhere(keys, key);
    this.course.hold("anchors", this.anchors.length === 0 ? "No anchor" : count(this.anchors.length, "anchor"));

    this.course.begin("records");
    await this.walk(keys);
    this.found.anchored = this.kept.checkpoint !== undefined;
    const { calls, executed, openCalls } = this.rules;
    const anchored = this.found.anchored ? "; the one you gave among them" : "";
    this.course.hold(
      "records",
      `${count(this.tree.size, "record")} under ${count(this.checkpoints, "checkpoint")}${anchored}`,
    );
    const { erased } = this.found;
    this.course.hold("payloads", erased === 0 ? "All are there" : `${erased} were erased, as the log says`);
    this.course.hold("rules", `${count(calls, "call")}, ${executed} run; ${openCalls} under way`);
    this.course.hold("signatures", `${count(this.answers.signatures, "signature")} checked`);

    this.course.begin("whole");
    if (misplaced !== null) throw new Found(`line ${misplaced.line}`, misplaced.detail);
    this.course.hold("whole", "The file ends where the log did when it was written");
  }

  private async checkForm() {
    const form = new ExportForm();
    let lines = 0;
    try {
      for await (const line of this.lines(null, (done, size) => this.progress(done, 2 * size))) {
        lines++;
        form.read(line);
        this.noteRotation(line);
      }
      lines++;
      form.finish();
    } catch (error) {
      if (error instanceof Malformed) throw new Found(`line ${lines}`, error.message);
      throw error;
    }
    return { misplaced: form.misplaced, lines: lines - 1 };
  }

  /** All keys that the log had. One that was given is its only one, or one of those that were handed over. */
  private async readKeys(): Promise<KeyHistory> {
    const header = await this.lines("log").next();
    const given = this.kept.key;
    try {
      const own = await readKey(String(readLine(header.value ?? new Uint8Array()).key));
      const { rotations } = this;
      if (rotations.length === 0) return new KeyHistory([given === undefined ? own : await readKey(given)], []);
      const keys = await readKeyHistory(rotations, own);
      if (given !== undefined && !keys.has(given)) {
        throw new Found("key", "the key that was given is none that this log had");
      }
      return keys;
    } catch (error) {
      if (error instanceof Malformed) throw new Found("line 1", "its `key` is none that checks a checkpoint");
      throw error;
    }
  }

  /** Keeps a record that hands over the key. Of one that is not the one of its hash the check of the records says more. */
  private noteRotation(line: Uint8Array): void {
    if (kindOf(line) !== "leaf" || !LATIN_1.decode(line).includes(ROTATED)) return;
    const { index, hash, body } = readLeaf(readLine(line));
    if (body.event !== ROTATED || !equalBytes(hashLeaf(canonicalBytes(body)), hash)) return;
    this.rotations.push({ index, place: `records[${index}].body`, body });
  }

  private async readOffers(): Promise<ReadonlyMap<string, ReadonlyMap<string, OfferedTool>>> {
    const descriptors = new Map<Json | undefined, JsonObject>();
    const offers = new Map<string, ReadonlyMap<string, OfferedTool>>();
    for await (const line of this.lines("descriptor")) {
      const { digest, body } = readLine(line);
      if (isJsonObject(body)) descriptors.set(digest, body);
    }
    for await (const line of this.lines("snapshot")) {
      const { digest, body } = readLine(line);
      const place = `snapshots[${String(digest)}]`;
      try {
        const snapshot = restore(body as JsonObject, descriptors);
        if (digestOf(writeCanonical(snapshot)) !== digest) throw new Found(place, `snapshot \`${digest}\` was changed`);
        offers.set(String(digest), readOffer(snapshot));
      } catch (error) {
        if (error instanceof Malformed) throw new Found(place, `snapshot \`${String(digest)}\` was changed`);
        throw error;
      }
    }
    return offers;
  }

  private async readElsewhere(keys: KeyHistory, key: VerificationKey): Promise<void> {
    if (this.kept.checkpoint !== undefined) {
      const claimed = readNote(this.kept.checkpoint, key);
      const opened = "reason" in claimed ? claimed : await openNote(this.kept.checkpoint, keys.at(claimed.size));
      if ("reason" in opened) {
        throw new Found("checkpoint", `the checkpoint that was passed proves nothing: ${opened.reason}`);
      }
      this.elsewhere.push({ ...opened, place: "checkpoint" });
    }
    const anchors: Anchored[] = [];
    for await (const line of this.lines("anchor")) {
      const place = `anchors[${anchors.length}]`;
      const anchored = await checkEvidence(readLine(line).evidence, place, keys.keys, this.kept);
      anchors.push(anchored);
      this.elsewhere.push({ ...anchored.checkpoint, place: `${place}.note` });
    }
    requireTrusted(anchors, this.kept);
    this.anchors = anchors;
    this.elsewhere.sort((one, other) => one.size - other.size);
  }

  /** Records in order, one checkpoint's stretch of them at a time. */
  private async walk(keys: KeyHistory): Promise<void> {
    const notes = this.lines("checkpoint");
    const next = async () => {
      const line = await notes.next();
      return line.done ? null : String(readLine(line.value).note);
    };
    this.ahead = await next();
    let following = await this.openNext(keys, next);
    let expected = 0;
    for await (const line of this.lines("leaf", (done, size) => this.progress(size + done, 2 * size))) {
      const leaf = readLeaf(readLine(line));
      if (leaf.index !== expected) throw new Found(`records[${expected}].index`, `record ${expected} is missing`);
      if (!equalBytes(hashLeaf(canonicalBytes(leaf.body)), leaf.hash)) {
        throw new Found(`records[${expected}].hash`, `record ${expected} was changed`);
      }
      if (following instanceof Found) throw following;
      if (following === null) {
        throw new Found(`records[${expected}]`, `record ${expected} and what follows is under no checkpoint`);
      }
      this.stretch.push(leaf);
      expected++;
      if (expected === this.due(following)) {
        await this.finishStretch(following);
        if (expected === following.size) following = await this.openNext(keys, next);
      }
    }
    this.finish(following);
  }

  private finish(following: Checkpoint | Found | null): void {
    if (following instanceof Found) throw following;
    const size = this.tree.size + this.stretch.length;
    if (following !== null) {
      throw new Found(`records[${size}]`, `a checkpoint covers ${following.size} records, the log ends after ${size}`);
    }
    for (const kept of this.elsewhere) {
      if (kept.size > size) {
        const cut = `${kept.size} records were anchored, the log ends after ${size}: its end was cut off`;
        throw new Found(`records[${size}]`, cut);
      }
      if (kept.size > 0 || !equalBytes(kept.root, new Tree().root())) {
        throw new Found(kept.place, "the anchored checkpoint does not fit this log");
      }
    }
    this.found.erased = this.erasures.erased;
    const taken = this.erasures.findTaken();
    if (taken !== null) {
      const detail = `the payload of record ${taken} was taken out: no record says that it was erased`;
      this.fail("payloads", `records[${taken}].payload`, detail);
    }
    const fault = this.rules.finish();
    if (fault !== null) this.fail("rules", `records[${size - 1}]`, fault);
  }

  private async openNext(keys: KeyHistory, next: () => Promise<string | null>): Promise<Checkpoint | Found | null> {
    const note = this.ahead;
    if (note === null) return null;
    this.ahead = await next();
    const implied = this.newestOnly && this.ahead !== null;
    const claimed = readNote(note, keys.at(Number.POSITIVE_INFINITY));
    const opened = implied || "reason" in claimed ? claimed : await openNote(note, keys.at(claimed.size));
    const { size } = this.tree;
    const place = `checkpoints[${this.checkpoints}]`;
    if ("reason" in opened) {
      return new Found(place, `the checkpoint after record ${size - 1} proves nothing: ${opened.reason}`);
    }
    if (opened.size <= size) return new Found(place, `the checkpoint over ${opened.size} records is out of order`);
    this.checkpoints++;
    return opened;
  }

  /** Where the next proof is due: at the checkpoint, or before it, at the size of one that somebody else has. */
  private due(following: Checkpoint): number {
    const later = this.elsewhere.find(({ size }) => size > this.tree.size)?.size ?? following.size;
    return Math.min(later, following.size);
  }

  private async finishStretch(following: Checkpoint): Promise<void> {
    const from = this.tree.size;
    for (const { hash } of this.stretch) this.tree.add(hash);
    const { size } = this.tree;
    const root = this.tree.root();
    if (size === following.size && !equalBytes(root, following.root)) {
      const detail = `records ${from} to ${size - 1} are not those that their checkpoint signed`;
      throw new Found(`records[${from}]`, detail);
    }
    while (this.elsewhere[0]?.size === size) {
      const { root: anchored, place } = this.elsewhere[0];
      if (!equalBytes(root, anchored)) {
        throw new Found(place, `the first ${size} records are not those that were anchored`);
      }
      this.elsewhere.shift();
    }
    for (const leaf of this.stretch) await this.read(leaf);
    this.stretch = [];
  }

  private async read({ index, body, salt, payload }: Leaf): Promise<void> {
    const place = `records[${index}]`;
    const sealed = member(body, "payload") ?? null;
    if (payload === null) {
      if (sealed !== null) this.found.withheld++;
    } else if (sealed !== writeHex(hash(salt ?? new Uint8Array(), canonicalBytes(payload)))) {
      this.fail("payloads", `${place}.payload`, `the payload of record ${index} was changed`);
    }
    try {
      const untrue = this.erasures.check(index, body, payload === null && sealed !== null);
      if (untrue !== null) this.fail("payloads", `${place}.body.records`, untrue);
      const broken = this.rules.check(body, payload);
      if (broken !== null) this.fail("rules", place, broken);
      const unsigned = await this.answers.check(body, payload);
      if (unsigned !== null) this.fail("signatures", place, unsigned);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      this.fail("rules", place, `record ${index} is none that the gateway writes`);
    }
  }

  private fail(part: keyof typeof TITLES, place: string, detail: string): never {
    this.course.begin(part);
    throw new Found(place, detail);
  }

  private async *lines(kind: Kind | null, progress?: CheckProgress): AsyncGenerator<Uint8Array> {
    for await (const line of readLines(this.source, LINE_LIMIT, progress)) {
      if (kind === null || kindOf(line) === kind) yield line;
    }
  }
}

function readLeaf({ index, hash, body, salt, payload }: JsonObject): Leaf {
  return {
    index: Number(index),
    hash: fromHex(String(hash)),
    body: body as JsonObject,
    salt: typeof salt === "string" ? fromHex(salt) : null,
    payload: payload as JsonObject | null,
  };
}

/** A snapshot with its tools put back. One whose definition is gone is left empty; no digest will fit it. */
function restore(body: JsonObject, descriptors: ReadonlyMap<Json | undefined, JsonObject>): JsonObject {
  if (!isList(body.tools)) throw new Malformed("`tools` is no list");
  const tools = body.tools.map((tool) => {
    if (!isList(tool) || tool.length !== 2) throw new Malformed("a tool is no pair");
    const [digest, permission] = tool;
    return { ...descriptors.get(digest), permission: permission as Json, digest: digest as Json };
  });
  return { ...body, tools };
}
