import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolCall, ToolDescriptor } from "../protocol/generated.ts";
import type { ChatMessage } from "./chat.ts";
import { makeExample } from "./examples.ts";
import { progress, summarise } from "./intents.ts";
import type { Message, Observation, ToolMessage } from "./messages.ts";
import { shotsOf, systemText } from "./prompts.ts";
import { frameResult } from "./provenance.ts";
import { asChat } from "./routing.ts";

/** An example that goes on until an answer, as prompts.json holds it. */
interface Dialogue {
  readonly user: string;
  readonly steps: readonly { readonly tool: string; readonly arguments: object; readonly result: string }[];
  readonly answer: string;
}

/** Enough to show that one call may be all. */
const MADE = 3;

const DIALOGUES: readonly Dialogue[] = words.chained.dialogues;

/**
 * Everything before the conversation in the prompt of models that read what they find: tools, examples of one action each, and
 * some that go on until an answer.
 */
export function chainedPrefix(tools: readonly ToolDescriptor[]): ChatMessage[] {
  const names = new Set(tools.map((tool) => tool.name));
  const { opening, closing } = words.chained;
  const fitting = DIALOGUES.filter(({ steps }) => steps.every(({ tool }) => names.has(tool)));
  return [
    { role: "system", content: systemText(opening, closing, tools) },
    ...shotsOf(tools),
    // Without one that ends, a small model calls one tool of a person's own after the other.
    ...(fitting.length > 0 ? fitting : tools.slice(0, MADE).map(made)).flatMap((dialogue) =>
      asDialogue(played(dialogue)),
    ),
  ];
}

/**
 * Messages as the model is shown them. A result is no message of the person's: it is framed, with where it comes from, and
 * followed by what is done and what is asked for now. Calls that were proposed together stand one by one, each with its result.
 */
export function asDialogue(messages: readonly Message[]): ChatMessage[] {
  const done: ToolMessage[] = [];
  const together = new Set<string>();
  return messages.flatMap((each) => {
    if (each.role === "assistant" && each.toolCalls.length > 1) {
      for (const call of each.toolCalls) together.add(call.id);
      return [];
    }
    if (each.role !== "tool") return [asChat(each)];
    done.push(each);
    const block = progress(done.map(({ call, result }) => summarise(call, result)));
    const content = [frameResult(each.call.name, each.result), block, words.chained.next].join("\n");
    const result = { role: "user", content } as const;
    const { turnId, call } = each;
    const isOne = !together.has(call.id);
    return isOne ? [result] : [asChat({ role: "assistant", turnId, content: "", toolCalls: [call] }), result];
  });
}

/** An example of a tool that none shows: one call, and it is over. */
function made(tool: ToolDescriptor): Dialogue {
  const { user, reply } = makeExample(tool);
  const { result, answer } = words.chained.made;
  return { user, steps: [{ tool: tool.name, arguments: reply.arguments as ToolCall["arguments"], result }], answer };
}

/** An example as the conversation that it is. */
function played({ user, steps, answer }: Dialogue): Message[] {
  const messages: Message[] = [{ role: "user", turnId: "", content: user }];
  for (const step of steps) {
    const call: ToolCall = { id: "", name: step.tool, arguments: { ...step.arguments } };
    const result: Observation = { outcome: "ok", content: step.result, trust: "untrusted", truncated: false };
    messages.push({ role: "assistant", turnId: "", content: "", toolCalls: [call] });
    messages.push({ role: "tool", turnId: "", call, result });
  }
  return [...messages, { role: "assistant", turnId: "", content: answer, toolCalls: [] }];
}
