/** A receipt: one call's records, each with its proof that it is under a signed checkpoint. */

import { type Anchored, checkEvidence, requireTrusted, type Trusted } from "./anchors.ts";
import { type Bytes, digestOf, equalBytes, fromHex, hash, writeHex } from "./bytes.ts";
import { Erasures } from "./erasures.ts";
import {
  canonicalBytes,
  decodeText,
  isJsonObject,
  isList,
  type Json,
  type JsonObject,
  Malformed,
  member,
  parseCanonical,
  writeCanonical,
} from "./json.ts";
import { type KeyHistory, ROTATED, type Rotation, readKeyHistory } from "./keys.ts";
import { type Checkpoint, checkpointText, openNote, readKey, sameCheckpoint, type VerificationKey } from "./note.ts";
import { type OfferedTool, Rules, readOffer } from "./rules.ts";
import { SignedAnswers } from "./signed-answers.ts";
import { hashLeaf, isConsistent, rootByProof } from "./tree.ts";
import { CheckCourse, count, Found, type Kept, type Verdict } from "./verdict.ts";

/** Bytes; the gateway's own limit. */
export const RECEIPT_LIMIT = 32 * 1024 * 1024;

interface Proven {
  readonly index: number;
  readonly body: JsonObject;
  readonly payload: JsonObject | null;
}

const CLOSINGS: readonly unknown[] = ["call:closed", "call:found-unknown"];
const ACTS: readonly unknown[] = [...CLOSINGS, "call:intended"];

const TITLES = {
  form: "Form",
  key: "Key",
  checkpoint: "Checkpoint's signature",
  anchors: "Anchors: who else has signed for the log",
  records: "Records under the checkpoint, and their payloads",
  snapshots: "Tools that were on offer",
  call: "The call, and nothing but what it rests on",
  erasures: "Payloads that were erased",
  rules: "Rules of the log: consent before intent, intent before the act",
  signatures: "Passkeys' signatures",
} as const;

/** Checks a receipt by itself, and ends at the first thing that is wrong. */
export async function checkReceipt(raw: Uint8Array, kept: Kept = {}): Promise<Verdict> {
  const course = new CheckCourse(TITLES);
  const found = { key: "", size: 0, root: "", signatures: 0, withheld: 0, erased: 0, anchored: false };
  let anchors: readonly Anchored[] = [];
  let records: readonly Proven[] = [];
  const finish = (fault: Found | null): Verdict => ({
    kind: "receipt",
    fault: fault?.fault ?? null,
    parts: course.parts(fault?.fault ?? null),
    ...found,
    anchors: anchors.map((each) => tellAnchor(each, records)),
  });
  try {
    course.begin("form");
    const whole = readForm(raw);
    const call = needMembers(whole.call, "call", ["callId", "conversationId"]);
    const conversationId = needString(call.conversationId, "call.conversationId");
    const callId = needString(call.callId, "call.callId");
    course.hold("form", `A receipt of call ${callId}`);

    course.begin("key");
    const { key, keys } = await readReceiptKeys(whole.key, whole.records, kept.key);
    found.key = key.line;
    course.hold(
      "key",
      kept.key === undefined ? `${key.name}; taken from the receipt` : `${key.name}; the one you gave`,
    );

    course.begin("checkpoint");
    const checkpoint = await readCheckpoint(whole.checkpoint, key);
    found.size = checkpoint.size;
    found.root = writeHex(checkpoint.root);
    if (kept.checkpoint !== undefined) {
      await compare(checkpoint, kept.checkpoint, key);
      found.anchored = true;
    }
    course.hold("checkpoint", `Over ${checkpoint.size} records${found.anchored ? "; the one you gave" : ""}`);

    course.begin("anchors");
    anchors = await readAnchors(whole.anchors ?? [], checkpoint, keys, kept);
    course.hold("anchors", anchors.length === 0 ? "No anchor" : count(anchors.length, "anchor"));

    course.begin("records");
    records = readRecords(whole.records, checkpoint);
    found.withheld = records.filter(isWithheld).length;
    const left = found.withheld === 0 ? "" : `; ${count(found.withheld, "payload")} not in the file`;
    course.hold("records", `${count(records.length, "record")}${left}`);

    course.begin("snapshots");
    const offers = readSnapshots(whole.snapshots, records);
    course.hold("snapshots", count(offers.size, "snapshot"));

    course.begin("call");
    requireCall(records, conversationId, callId);
    course.hold("call", "It has closed");

    course.begin("erasures");
    const erasures = new Erasures(false);
    await walk(records, ({ index, body, payload }) =>
      erasures.check(index, body, isWithheld({ index, body, payload })),
    );
    found.erased = erasures.erased;
    course.hold("erasures", found.erased === 0 ? "None was" : `${count(found.erased, "payload")}, as the log says`);

    course.begin("rules");
    const rules = new Rules(offers, false);
    await walk(records, ({ body, payload }) => rules.check(body, payload));
    course.hold("rules", rules.executed > 0 ? "The call ran" : "The call did not run");

    course.begin("signatures");
    const answers = new SignedAnswers();
    await walk(records, ({ body, payload }) => answers.check(body, payload));
    found.signatures = answers.signatures;
    course.hold(
      "signatures",
      answers.signatures === 0 ? "None was asked for" : `${count(answers.signatures, "signature")} checked`,
    );
    return finish(null);
  } catch (error) {
    if (error instanceof Found) return finish(error);
    throw error;
  }
}

function readForm(raw: Uint8Array): JsonObject {
  if (raw.length > RECEIPT_LIMIT) throw new Found("file", `a receipt has at most ${RECEIPT_LIMIT} bytes`);
  let value: Json;
  try {
    value = parseCanonical(decodeText(raw.at(-1) === 0x0a ? raw.subarray(0, -1) : raw));
  } catch (error) {
    if (error instanceof Malformed) throw new Found("file", error.message);
    throw error;
  }
  const names = ["type", "v", "call", "key", "checkpoint", "records", "snapshots"];
  const version = needObjectAt(value, "file").v;
  const whole = needMembers(value, "file", version === 1 || version === true ? names : [...names, "anchors"]);
  if (whole.type !== "countersign.receipt") throw new Found("type", "this is no receipt");
  if (version !== 1 && version !== 2) throw new Found("v", "this receipt is of another version");
  return whole;
}

async function readReceiptKeys(
  line: Json | undefined,
  records: Json | undefined,
  pinned: string | undefined,
): Promise<{ readonly key: VerificationKey; readonly keys: KeyHistory }> {
  const text = needString(line, "key");
  let key: VerificationKey;
  try {
    key = await readKey(text);
  } catch (error) {
    if (error instanceof Malformed) throw new Found("key", "this is no key that checks a checkpoint");
    throw error;
  }
  const history = await readKeyHistory(findRotations(records), key);
  if (pinned !== undefined && !history.has(pinned)) {
    throw new Found("key", "the receipt was signed with another key than the one that was given");
  }
  return { key, keys: history };
}

/** What is malformed is passed over: the check of the records says so. Of these only the two signatures are believed. */
function findRotations(records: Json | undefined): readonly Rotation[] {
  if (!isList(records)) return [];
  return records.flatMap((record, index) => {
    const body = isJsonObject(record) ? record.body : undefined;
    if (!isJsonObject(body) || body.event !== ROTATED) return [];
    return [{ index, place: `records[${index}].body`, body }];
  });
}

async function readCheckpoint(note: Json | undefined, key: VerificationKey): Promise<Checkpoint> {
  const text = needString(note, "checkpoint");
  const opened = await openNote(text, key);
  if ("reason" in opened) throw new Found("checkpoint", `the checkpoint proves nothing: ${opened.reason}`);
  const signed = checkpointText(opened);
  if (!text.startsWith(`${signed}\n`) || text.slice(signed.length + 1).split("\n").length !== 2) {
    throw new Found("checkpoint", "the checkpoint says more than a gateway's does");
  }
  return opened;
}

async function compare(checkpoint: Checkpoint, given: string, key: VerificationKey): Promise<void> {
  const opened = await openNote(given, key);
  if ("reason" in opened) {
    throw new Found("checkpoint", `the checkpoint that was given proves nothing: ${opened.reason}`);
  }
  if (!sameCheckpoint(opened, checkpoint)) {
    throw new Found("checkpoint", "the receipt stands on another checkpoint than the one that was given");
  }
}

async function readAnchors(
  value: Json,
  checkpoint: Checkpoint,
  { keys }: KeyHistory,
  trusted: Trusted,
): Promise<readonly Anchored[]> {
  const found: Anchored[] = [];
  for (const [number, each] of needList(value, "anchors").entries()) {
    const place = `anchors[${number}]`;
    const { consistency, ...evidence } = needObjectAt(each, place);
    const proof = readProof(consistency, `${place}.consistency`);
    const anchored = await checkEvidence(evidence, place, keys, trusted);
    if (anchored.checkpoint.size > checkpoint.size) {
      throw new Found(`${place}.note`, "it covers more records than the receipt's checkpoint");
    }
    if (!isConsistent(anchored.checkpoint, checkpoint, proof)) {
      const detail = "the receipt's checkpoint does not go on from the one that was anchored";
      throw new Found(`${place}.consistency`, detail);
    }
    found.push(anchored);
  }
  requireTrusted(found, trusted);
  return found;
}

function tellAnchor({ sentence, checkpoint }: Anchored, records: readonly Proven[]): string {
  const covered = records.filter(({ index }) => index < checkpoint.size).length;
  return `${sentence}. ${covered} of these ${count(records.length, "record")} are among them`;
}

function readProof(value: Json | undefined, place: string): readonly Bytes[] {
  return needList(value, place).map((each) => needHash(each, place));
}

function readRecords(value: Json | undefined, checkpoint: Checkpoint): readonly Proven[] {
  const records: Proven[] = [];
  for (const [number, each] of needList(value, "records").entries()) {
    const record = readRecord(each, `records[${number}]`, checkpoint);
    if (record.index <= (records.at(-1)?.index ?? -1)) {
      throw new Found(`records[${number}].index`, "the records are not in the order of the log");
    }
    records.push(record);
  }
  return records;
}

function readRecord(value: Json, place: string, checkpoint: Checkpoint): Proven {
  const members = needMembers(value, place, ["index", "body", "salt", "payload", "proof"]);
  const { index, salt, payload } = members;
  const body = needObjectAt(members.body, `${place}.body`);
  if (typeof index !== "number" || !Number.isInteger(index)) {
    throw new Found(`${place}.index`, "this is no place in a log");
  }
  const proof = readProof(members.proof, `${place}.proof`);
  const root = rootByProof(hashLeaf(canonicalBytes(body)), index, checkpoint.size, proof);
  if (root === null || !equalBytes(root, checkpoint.root)) {
    throw new Found(place, "this record is not under the checkpoint");
  }
  if ((salt === null) !== (payload === null)) {
    throw new Found(`${place}.salt`, "a payload and its salt are there together, or neither is");
  }
  if (payload === null) return { index, body, payload: null };
  const octets = needSalt(salt, `${place}.salt`);
  const content = needObjectAt(payload, `${place}.payload`);
  if (writeHex(hash(octets, canonicalBytes(content))) !== member(body, "payload")) {
    throw new Found(`${place}.payload`, "the payload is not the one that the record has the digest of");
  }
  return { index, body, payload: content };
}

function readSnapshots(
  value: Json | undefined,
  records: readonly Proven[],
): ReadonlyMap<string, ReadonlyMap<string, OfferedTool>> {
  const named = new Set(records.map(({ body }) => member(body, "snapshotDigest")));
  const offers = new Map<string, ReadonlyMap<string, OfferedTool>>();
  let before = "";
  for (const [number, each] of needList(value, "snapshots").entries()) {
    const place = `snapshots[${number}]`;
    const members = needMembers(each, place, ["digest", "body"]);
    const name = needString(members.digest, `${place}.digest`);
    const body = needObjectAt(members.body, `${place}.body`);
    if (digestOf(writeCanonical(body)) !== name) throw new Found(place, "the snapshot is not the one of its digest");
    if (!named.has(name) || name <= before) {
      throw new Found(place, "no record names this snapshot, or it is there twice");
    }
    before = name;
    try {
      offers.set(name, readOffer(body));
    } catch (error) {
      if (error instanceof Malformed) throw new Found(place, "this is no snapshot that a gateway writes");
      throw error;
    }
  }
  return offers;
}

/** That the call is among the records, and closed. Other records are what it rests on, and no other call's acts. */
function requireCall(records: readonly Proven[], conversationId: string, callId: string): void {
  const isOwn = ({ body }: Proven) =>
    member(body, "callId") === callId && member(body, "conversationId") === conversationId;
  const own = records.filter(isOwn);
  if (own.length === 0) throw new Found("call", "no record is about this call");
  if (!own.some(({ body }) => CLOSINGS.includes(body.event))) {
    throw new Found("records", "the record with which the call closed is missing");
  }
  for (const [number, record] of records.entries()) {
    if (ACTS.includes(record.body.event) && !isOwn(record)) {
      throw new Found(`records[${number}]`, "this record is about another call");
    }
  }
}

async function walk(
  records: readonly Proven[],
  check: (record: Proven) => string | null | Promise<string | null>,
): Promise<void> {
  for (const [number, record] of records.entries()) {
    let fault: string | null;
    try {
      fault = await check(record);
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      fault = "this record is none that a gateway writes";
    }
    if (fault !== null) throw new Found(`records[${number}]`, fault);
  }
}

function isWithheld({ body, payload }: Proven): boolean {
  return payload === null && (member(body, "payload") ?? null) !== null;
}

// ── reading ──

function needObjectAt(value: Json | undefined, place: string): JsonObject {
  if (!isJsonObject(value)) throw new Found(place, "this has to be an object");
  return value;
}

function needMembers(value: Json | undefined, place: string, names: readonly string[]): JsonObject {
  const held = needObjectAt(value, place);
  if (Object.keys(held).toSorted().join() !== names.toSorted().join()) {
    throw new Found(place, `it has to have the members ${names.toSorted().join(", ")}, and no others`);
  }
  return held;
}

function needList(value: Json | undefined, place: string): readonly Json[] {
  if (!isList(value)) throw new Found(place, "this has to be a list");
  return value;
}

function needString(value: Json | undefined, place: string): string {
  if (typeof value !== "string") throw new Found(place, "this has to be a text");
  return value;
}

function needHash(value: Json, place: string): Bytes {
  if (typeof value !== "string" || !/^[0-9a-f]{64}$/.test(value)) {
    throw new Found(place, "a proof is made of SHA-256 digests");
  }
  return fromHex(value);
}

function needSalt(value: Json | undefined, place: string): Bytes {
  if (typeof value !== "string" || !/^(?:[0-9a-f]{2}){0,64}$/.test(value)) {
    throw new Found(place, "a salt is bytes in hex");
  }
  return fromHex(value);
}
