import { pageOf, READER } from "./kept.ts";
import type { ProposedCall } from "./lane.ts";
import type { Message } from "./messages.ts";
import { isParseFailure, readObject } from "./parse.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

const MORE: ReadonlySet<string> = new Set(vocabulary.readingOn);
const SAID: ReadonlySet<string> = new Set([...MORE].flatMap((phrase) => phrase.split(" ")));
const FILLERS: ReadonlySet<string> = new Set(vocabulary.fillers.filter((word) => !SAID.has(word)));

/** The call that gives the next page of the last result, where the wish asks for just that, such as "next page please". */
export function nextPage(
  wish: string,
  messages: readonly Message[],
  tools: readonly { readonly name: string }[],
): ProposedCall | null {
  if (!asksForMore(wish) || !tools.some(({ name }) => name === READER)) return null;
  const last = messages.findLast((each) => each.role === "tool");
  const given = last === undefined ? "" : pageOf(last.result.content).next;
  const read = given === "" ? null : readObject(given);
  return read === null || isParseFailure(read) ? null : { name: READER, arguments: read };
}

/** Whether a wish is for the rest of what was shown, and for nothing else. */
function asksForMore(wish: string): boolean {
  const words = wordsOf(wish).map(({ bare }) => bare);
  return MORE.has(words.filter((word) => !FILLERS.has(word)).join(" "));
}
