import type { Entry } from "../../agent/conversation.ts";
import type { FoundMessage } from "../../protocol/generated.ts";
import type { AgentClient } from "./shell-environment.ts";

/** Fewer characters are in nearly every message. */
const SHORTEST_SEARCH = 2;
const LONGEST_SEARCH = 200;
/** The gateway looks for so many words at once. */
const MOST_WORDS = 8;

/** What was found so far, newest first; `cursor` is there while there may be more. */
export interface SearchResult {
  readonly found: readonly FoundMessage[];
  readonly cursor: string | undefined;
}

/** A message of a conversation, by its turn and the words that were looked for. */
export interface SoughtPlace {
  readonly turnId: string;
  readonly words: readonly string[];
}

/** The words of a search, as many as are looked for; none where there is too little to look for. */
export function searchWords(sought: string): readonly string[] {
  const words = sought.slice(0, LONGEST_SEARCH).split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  return words.join(" ").length < SHORTEST_SEARCH ? [] : words;
}

/** One more page of what was said with all of these words in it. */
export async function searchMessages(
  client: Pick<AgentClient, "call">,
  words: readonly string[],
  before?: SearchResult,
): Promise<SearchResult> {
  const cursor = before?.cursor;
  const page = await client.call("conversations/search", { text: words.join(" "), ...(cursor && { cursor }) });
  return { found: [...(before?.found ?? []), ...page.found], cursor: page.nextCursor };
}

/** The entry that a place is about: the first of its turn with all the words, else the question of the turn. */
export function entryAt(entries: readonly Entry[], { turnId, words }: SoughtPlace): Entry | undefined {
  const begin = entries.findIndex((each) => each.kind === "user" && each.turnId === turnId);
  const beyond = entries.findIndex((each, at) => at > begin && each.kind === "user" && each.turnId !== turnId);
  const turn = begin < 0 ? [] : entries.slice(begin, beyond < 0 ? undefined : beyond);
  return entriesWith(turn, words)[0] ?? turn[0];
}

/** Those in which somebody said all of these words. */
export function entriesWith(entries: readonly Entry[], words: readonly string[]): readonly Entry[] {
  const lowered = words.map((word) => word.toLowerCase());
  const has = (text: string) => lowered.every((word) => text.toLowerCase().includes(word));
  return entries.filter((each) => (each.kind === "user" || each.kind === "assistant") && has(each.text));
}

/** Where any of these words stands in a text, in capitals or not. The longer one of two that begin alike comes first. */
export function wordPattern(words: readonly string[]): RegExp {
  const longestFirst = [...words].sort((one, other) => other.length - one.length);
  return new RegExp(longestFirst.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|"), "giu");
}
