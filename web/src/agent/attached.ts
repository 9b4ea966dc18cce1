import type { ToolCall } from "../protocol/generated.ts";
import type { Message } from "./messages.ts";

/** The tool by which a page takes in what its person attaches. It is none of a model's. */
export const ATTACHER = "read_attachment";

/** The call as it is shown and told: what was attached stands in the result, and its bytes say nothing to anybody. */
export function withoutBytes(call: ToolCall): ToolCall {
  if (call.name !== ATTACHER) return call;
  const { data: _bytes, ...told } = call.arguments;
  return { ...call, arguments: told };
}

/** The messages as a model is told them. */
export function withoutAttachedBytes(messages: readonly Message[]): readonly Message[] {
  return messages.map(withoutBytesOf);
}

function withoutBytesOf(message: Message): Message {
  switch (message.role) {
    case "user":
      return message;
    case "assistant":
      return { ...message, toolCalls: message.toolCalls.map(withoutBytes) };
    case "tool":
      return { ...message, call: withoutBytes(message.call) };
  }
}
