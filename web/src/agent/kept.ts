import limits from "../../../loop/limits.json" with { type: "json" };
import { ATTACHER } from "./attached.ts";
import type { Message } from "./messages.ts";

/*
 * The last line of a result of which only a page was given: `…[first 8030 of 20480 bytes. Next: read_result{…} of 3]`.
 *
 * It is for whoever reads on. It is no line of the result itself: nothing is looked for, counted or quoted in it. The gateway
 * writes it (gateway/core/pages.py); a result that only imitates it names a call that gives nothing.
 */

/** The tool that gives further pages. */
export const READER = "read_result";

const NOTE =
  /^(?:…\[(?:first|page) [0-9]+ of [0-9]+(?: bytes)?\. Next: read_result(\{[^\n]*\})(?: of [0-9]+)?\]|\[page [0-9]+ of [0-9]+, the end\])$/;

export interface KeptPage {
  /** The result without its last line. */
  readonly text: string;
  readonly note: string;
  /** The arguments of the call that the line names, as it writes them; empty for the last page, and for a whole result. */
  readonly next: string;
}

/** What a result's content is a page of. */
export function pageOf(content: string): KeptPage {
  const end = content.lastIndexOf("\n") + 1;
  const found = content.length - end <= limits.keptNoteCharacters ? NOTE.exec(content.slice(end)) : null;
  return found === null
    ? { text: content, note: "", next: "" }
    : { text: content.slice(0, end), note: found[0], next: found[1] ?? "" };
}

/**
 * The tools without the one that takes in what a person attaches, and without the one that reads on where nothing is to be read on:
 * each tool makes every prompt longer. `isLong` says of which results the model may be shown a part only.
 */
export function usefulTools<T extends { readonly name: string }>(
  tools: readonly T[],
  messages: readonly Message[],
  isLong: (content: string) => boolean,
): readonly T[] {
  const offered = tools.filter(({ name }) => name !== ATTACHER);
  const goesOn = (content: string) => pageOf(content).note !== "" || isLong(content);
  return messages.some((each) => each.role === "tool" && goesOn(each.result.content))
    ? offered
    : withoutReader(offered);
}

/** The tools but the one that reads on. A small model cannot write down an id; for it the loop reads on. */
export function withoutReader<T extends { readonly name: string }>(tools: readonly T[]): readonly T[] {
  return tools.filter(({ name }) => name !== READER);
}
