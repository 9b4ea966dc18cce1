import limits from "../../../loop/limits.json" with { type: "json" };
import { beginning, estimateTokens, tokensOf } from "./budget.ts";
import { type KeptPage, pageOf, READER } from "./kept.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { isParseFailure, readObject } from "./parse.ts";

/*
 * How much a model gets of one result: a share of what is left of its context where the result stands.
 *
 * The messages themselves keep the whole, for the person and for whatever the loop looks up. What is left out is said in the last
 * line, with the call that reads on from there: the gateway has the whole under the id that the result names, or under its
 * call's id. The same stands in `gateway/agent/shares.py`.
 */

/** Of what is left. */
const SHARE = limits.resultShare;

/** Of all the room: with less of a result a model can do nothing, so older turns make room for it. */
const LEAST_SHARE = limits.resultLeastShare;

/** Characters left for the line that says how to read on. */
const NOTE = limits.resultNoteCharacters;

/** Arguments of a call that reads on that say which text it is about. */
const FURTHER = ["page", "result_id", "search"] as const;

export interface SharedRoom {
  /** With their results cut to their share. */
  readonly messages: readonly Message[];
  /** Whether a result was cut that no model has been shown yet. */
  readonly isNew: boolean;
}

/** What a model gets of a conversation that has `limit` tokens of room. How to read on is said where `tools` can do it. */
export function shareRoom(
  messages: readonly Message[],
  limit: number,
  tools: readonly { readonly name: string }[],
): SharedRoom {
  const canReadOn = tools.some(({ name }) => name === READER);
  let used = 0;
  let isNew = false;
  const shared = messages.map((message) => {
    const room = Math.floor(Math.max((limit - used) * SHARE, limit * LEAST_SHARE));
    const given = message.role === "tool" ? cutTo(message, room, canReadOn) : message;
    isNew = given !== message || (isNew && message.role === "tool");
    used += tokensOf([given]);
    return given;
  });
  return { messages: shared, isNew };
}

/** Whether a result is so long that a model with that context may get a part of it only. */
export function mayBeCut(content: string, contextTokens: number): boolean {
  return estimateTokens(content) * 2 > contextTokens * LEAST_SHARE;
}

function cutTo(message: ToolMessage, tokens: number, canReadOn: boolean): ToolMessage {
  const { content, outcome } = message.result;
  const page = pageOf(content);
  const keep = Math.max(0, tokens * limits.charactersPerToken - NOTE);
  if (estimateTokens(content) <= tokens || page.text.length <= keep) return message;
  const text = tidyBeginning(page.text, keep);
  const note = canReadOn && outcome === "ok" ? noteAfter(text, message, page) : "";
  const lines = [text.replace(/\n$/, ""), note || `…[left out ${page.text.length - text.length} characters]`];
  return { ...message, result: { ...message.result, content: lines.filter((line) => line !== "").join("\n") } };
}

/** At most so many characters: up to the end of a line, else of a word, where one ends in the second half of them. */
function tidyBeginning(text: string, length: number): string {
  const kept = beginning(text, length);
  for (const mark of ["\n", " "]) {
    const end = kept.lastIndexOf(mark) + 1;
    if (end * 2 >= length) return kept.slice(0, end);
  }
  return kept;
}

/** The line that says how much of the result this is, and which call gives what follows. */
function noteAfter(text: string, message: ToolMessage, page: KeptPage): string {
  const which = textOfResult(message, page);
  const start = Math.trunc(Number(which.after ?? 0));
  const after = start + bytesOf(text);
  const further = FURTHER.flatMap((name) => (name in which ? [[name, which[name]]] : []));
  const next = JSON.stringify({ after, ...Object.fromEntries(further) });
  return `…[first ${after} of ${start + bytesOf(page.text)} bytes. Next: ${READER}${next}]`;
}

/** The arguments of the call that gives this very text again. */
function textOfResult({ call }: ToolMessage, page: KeptPage): Readonly<Record<string, unknown>> {
  if (call.name === READER) return call.arguments;
  const named = page.next === "" ? {} : readObject(page.next);
  const keptId = isParseFailure(named) ? undefined : named.result_id;
  return { result_id: keptId || call.id };
}

/** Bytes of a text in UTF-8; half of a pair takes three, whatever is written for it. */
function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
