/**
 * Which payloads a log lacks, and which of those it says were erased. Every erasure is a record that names what it erased; what
 * none names was taken out by somebody, and what one names and is there came back from an older copy.
 */

import { isList, type JsonObject, Malformed, need, needNumber, needText } from "./json.ts";

const REASONS: readonly unknown[] = ["requested", "retention", "restored", "damaged"];

export class Erasures {
  /** Payloads that a record says were erased. */
  erased = 0;
  private readonly whole: boolean;
  /** By index, with the conversation where it is the digest of a message. */
  private readonly missing = new Map<number, string | null>();
  private readonly messages = new Map<string, Set<number>>();
  private readonly there = new Set<number>();
  /** Payloads that recoveries erased which only counted them. */
  private unnamed = 0;

  /** `whole`: every record is read, not only some. */
  constructor(whole: boolean) {
    this.whole = whole;
  }

  /** What is wrong with the next record, or null. `lacking`: the payload that it has the digest of is not there. */
  check(index: number, body: JsonObject, lacking: boolean): string | null {
    const event = needText(body, "event");
    if (lacking) this.miss(index, event === "message:appended" ? needText(body, "conversationId") : null);
    else if (!this.whole) this.there.add(index);
    if (event === "records:erased") return this.erase(index, body);
    if (event === "conversation:deleted") {
      for (const message of [...(this.messages.get(needText(body, "conversationId")) ?? [])]) this.name(message);
    }
    if (event === "records:lost") this.unnamed += needNumber(body, "erased");
    return null;
  }

  /** The first record whose payload is not there, though nothing says that it was erased. */
  findTaken(): number | null {
    if (this.missing.size <= this.unnamed) return null;
    let first = Number.POSITIVE_INFINITY;
    for (const index of this.missing.keys()) first = Math.min(first, index);
    return first;
  }

  private miss(index: number, conversationId: string | null): void {
    this.missing.set(index, conversationId);
    if (conversationId === null) return;
    const others = this.messages.get(conversationId) ?? new Set();
    this.messages.set(conversationId, others.add(index));
  }

  private erase(index: number, body: JsonObject): string | null {
    const records = need(body, "records");
    const reason = need(body, "reason");
    if (!isList(records) || records.length === 0 || !REASONS.includes(reason)) {
      throw new Malformed("an erasure names what it erased");
    }
    if (reason === "damaged") this.unnamed -= records.length;
    let before = -1;
    for (const record of records) {
      if (typeof record !== "number" || !Number.isInteger(record) || record <= before || record >= index) {
        throw new Malformed("an erasure names records before it, in their order");
      }
      before = record;
      if (this.missing.has(record)) this.name(record);
      else if (this.whole || this.there.has(record)) {
        return `record ${index} says that the payload of record ${record} was erased, which it was not`;
      }
    }
    return null;
  }

  private name(record: number): void {
    const conversationId = this.missing.get(record) ?? null;
    this.missing.delete(record);
    if (conversationId !== null) this.messages.get(conversationId)?.delete(record);
    this.erased++;
  }
}
