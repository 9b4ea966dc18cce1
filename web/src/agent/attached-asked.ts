import type { ToolDescriptor } from "../protocol/generated.ts";
import { ATTACHER } from "./attached.ts";
import { pointedReading } from "./further.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { readAgain } from "./read-before.ts";
import { readerAmong } from "./reading.ts";

/*
 * A question about what the person attached with it, such as one about the rent in January beside a table. What was attached is in no
 * file of the workspace, so nothing is looked for there. It is answered as if it had just been read.
 */

/** What was attached right before this turn and a question is about, as if a tool had read it; null for any other wish. */
export function attachedFor(
  wish: string,
  messages: readonly Message[],
  turnId: string,
  tools: readonly ToolDescriptor[],
): ToolMessage | null {
  const reader = readerAmong(tools);
  if (reader === null) return null;
  for (const each of messages.filter((message) => message.role === "tool").reverse()) {
    if (each.turnId === turnId || each.call.name !== ATTACHER) return null;
    // Its first line says what it is; an image has no other.
    const [, ...lines] = each.result.content.split("\n");
    const call = { ...each.call, name: reader.name, arguments: { [reader.path]: each.call.arguments.name } };
    const content = lines.join("\n");
    const read: ToolMessage = { ...each, call, result: { ...each.result, content } };
    const isAsked = pointedReading(wish, [read], tools) ?? readAgain(wish, [read], turnId, tools);
    if (content !== "" && isAsked !== null) return read;
  }
  return null;
}
