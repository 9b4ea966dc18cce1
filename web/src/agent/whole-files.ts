import { asksForFigure } from "./figures.ts";
import { pageOf, READER } from "./kept.ts";
import type { ProposedCall } from "./lane.ts";
import { linesAsked } from "./line-places.ts";
import type { ToolMessage } from "./messages.ts";
import { isParseFailure, readObject } from "./parse.ts";
import { type ReadingTool, readerAmong } from "./reading.ts";

/*
 * A long file read to its end, where only the whole of it answers: a count, a sum, its last lines. The gateway gives a long result
 * in pages. A number that is worked out of the first of them would be wrong, so the loop reads on as long as the turn has calls, and
 * takes the pages for one text.
 */

/** The call that reads on in the file that was read last; null where a part of it will do, or where all of it was read. */
export function restCall(
  wish: string,
  calls: readonly ToolMessage[],
  tools: readonly ReadingTool[],
): ProposedCall | null {
  const [last] = readAmong(calls, tools).slice(-1);
  if (last === undefined || !tools.some(({ name }) => name === READER)) return null;
  const isWhole = asksForFigure(wish) || linesAsked(wish) !== null;
  const given = isWhole ? pageOf(last.result.content).next : "";
  const read = given === "" ? null : readObject(given);
  return read === null || isParseFailure(read) ? null : { name: READER, arguments: read };
}

/** A read of a file with the pages that were read after it, as one result; any other call as it is. */
export function withRest(
  message: ToolMessage,
  calls: readonly ToolMessage[],
  tools: readonly ReadingTool[],
): ToolMessage {
  const read = readAmong(calls, tools);
  const [first, ...more] = read;
  if (first === undefined || more.length === 0 || !read.includes(message)) return message;
  const pages = read.map(({ result }) => pageOf(result.content));
  const result = {
    ...first.result,
    content: pages.map(({ text }) => text).join(""),
    truncated: pages.at(-1)?.next !== "",
  };
  return { ...first, result };
}

/** The read that the last calls belong to, and the pages of it after it; none where the last call is no read. */
function readAmong(calls: readonly ToolMessage[], tools: readonly ReadingTool[]): readonly ToolMessage[] {
  const at = calls.findLastIndex(({ call }) => call.name !== READER);
  const read = calls.slice(Math.max(0, at));
  const isRead = at >= 0 && calls[at]?.call.name === readerAmong(tools)?.name;
  return isRead && read.every(({ result }) => result.outcome === "ok") ? read : [];
}
