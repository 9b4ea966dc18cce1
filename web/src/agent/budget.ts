import limits from "../../../loop/limits.json" with { type: "json" };
import { pageOf } from "./kept.ts";
import type { Message } from "./messages.ts";
import { textOf } from "./render.ts";

/*
 * How much of a conversation fits into a model's context. The same stands in `gateway/agent/budget.py`, which counts in
 * UTF-16 code units too, so that both cut at the same place.
 */

/** Tokens of a text, roughly: four characters each. Measured counts replace it as soon as the model reports them. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / limits.charactersPerToken);
}

/** Room that a message takes beside its text: role and separators of the chat template. */
const PER_MESSAGE = limits.messageTokens;

/** Dropping several turns at once keeps the prompt's beginning the same for a while, and with it the server's cache. */
const TURNS_AT_ONCE = limits.turnsDroppedTogether;

/** Characters left for the sentence that says how much was left out. */
const OMISSION = limits.omissionNoteCharacters;

export interface Fitted {
  readonly messages: readonly Message[];
  /** How many earlier turns were left out. */
  readonly dropped: number;
  /** Whether even the present turn had to be shortened. */
  readonly shortened: boolean;
}

/**
 * The newest part of a conversation that fits. Whole turns go first, the oldest before the newer ones. The turn under way
 * always stays; if it alone is too long, its results are cut, the latest last.
 */
export function fitMessages(messages: readonly Message[], maxTokens: number): Fitted {
  const turns = splitTurns(messages);
  const fits = (count: number) => tokensOf(turns.slice(count).flat()) <= maxTokens;
  const dropped = fewestLeftOut(Math.max(0, turns.length - 1), fits, TURNS_AT_ONCE);
  const kept = turns.slice(dropped).flat();
  if (tokensOf(kept) <= maxTokens) return { messages: kept, dropped, shortened: false };
  return { messages: shortenResults(kept, maxTokens), dropped, shortened: true };
}

/**
 * How many of at most so many entries to leave out, the oldest first and so many at once, until the rest fits; all of them where
 * not even that does. Once something fits, it fits with more left out too.
 */
export function fewestLeftOut(most: number, fits: (count: number) => boolean, atOnce = 1): number {
  if (fits(0)) return 0;
  let [low, high] = [1, Math.max(1, Math.ceil(most / atOnce))];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle * atOnce)) high = middle;
    else low = middle + 1;
  }
  return Math.min(most, low * atOnce);
}

/** The conversation as its turns, in order. */
export function splitTurns(messages: readonly Message[]): Message[][] {
  const turns: Message[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.[0]?.turnId === message.turnId) last.push(message);
    else turns.push([message]);
  }
  return turns;
}

/** Tokens of messages, roughly, with what the chat template puts around each. */
export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + PER_MESSAGE + estimateTokens(textOf(message)), 0);
}

/** Tokens of a prompt as it is sent, by `count`, with what the chat template puts around each message. */
export function tokensOfPrompt(prompt: readonly { readonly content: string }[], count = estimateTokens): number {
  return prompt.reduce((sum, { content }) => sum + PER_MESSAGE + count(content), 0);
}

function shortenResults(messages: readonly Message[], maxTokens: number): Message[] {
  const shortened = [...messages];
  for (const [place, message] of messages.entries()) {
    const excess = tokensOf(shortened) - maxTokens;
    if (excess <= 0 || message.role !== "tool") continue;
    const { text, note } = pageOf(message.result.content);
    const keep = Math.max(0, text.length - excess * limits.charactersPerToken - OMISSION);
    // How to read on stays, for more of it is missing now.
    const content = [cut(text, keep), note].filter((part) => part !== "").join("\n");
    shortened[place] = { ...message, result: { ...message.result, content } };
  }
  return shortened;
}

/** The first `length` characters, or one less where half of a pair would be left behind. */
export function beginning(text: string, length: number): string {
  return text.slice(0, isBetweenHalves(text, length) ? length - 1 : length);
}

/** The beginning of a text that is longer than `length`, saying how much is missing. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept = beginning(text, length);
  return `${kept}\n…[left out ${text.length - kept.length} characters]`;
}

function isBetweenHalves(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 1), at + 1));
}
