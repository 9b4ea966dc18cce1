import type { ToolDescriptor } from "../protocol/generated.ts";
import { fitMessages } from "./budget.ts";
import type { ChatMessage, DeclaredTool } from "./chat.ts";
import { condense } from "./condensing.ts";
import { collect, complete, type Lane, type LaneInput, type Proposal, type Reply, type Step } from "./lane.ts";
import type { Message } from "./messages.ts";
import { looksLikePlanning, MAX_NUDGES, nudge } from "./nudges.ts";
import { findObject, isFault, MAX_NAME, readObject } from "./parse.ts";
import words from "./prompts.json" with { type: "json" };
import { frameResult, neutralise } from "./provenance.ts";
import { MAX_REPAIRS, quote } from "./repair.ts";
import { injectRespond, isRespond, messageOf } from "./respond.ts";
import { isLooping, standingOf } from "./standing.ts";

const { system, mistakes } = words.native;
const SYSTEM = system.join("\n");

/** A reply longer than this is no longer read by anyone. */
const MAX_ANSWER_TOKENS = 1024;
const PROMPT_MARGIN = 256;

/**
 * The lane of models that do tool calls: messages and declared tools in, text and tool calls out. What a remote model writes
 * is taken at its word, and its calls may repeat; a local one that only announces a call, writes it as prose or goes in a
 * circle is told so, or stopped.
 */
export const nativeLane: Lane = async (input) => {
  const { closed, finished, message } = standingOf(input.messages, input.turnId);
  // A page that was left between the last words and the end of the turn.
  if (finished > 0) return { kind: "answer", text: "" };
  if (!input.mayCall) return { kind: "stuck", why: "capped" };
  if (input.model.local && isLooping(closed)) return { kind: "stuck", why: "looping" };
  const maxTokens = Math.min(MAX_ANSWER_TOKENS, input.model.outputTokens || MAX_ANSWER_TOKENS);
  const { tools } = injectRespond(declare(input.tools));
  const room = input.model.contextTokens - maxTokens - PROMPT_MARGIN - Math.ceil(JSON.stringify(tools).length / 4);
  const limit = Math.max(room, PROMPT_MARGIN);
  const condensed = await condense(input, input.shown, limit);
  if (condensed !== null) return condensed;
  const { messages, dropped, shortened } = fitMessages(input.shown, limit);
  if (dropped > 0 || shortened) input.listener.trimmed(dropped);
  const prompt: ChatMessage[] = [{ role: "system", content: SYSTEM }, ...messages.map(asChat)];
  for (let [repairs, nudges] = [0, 0]; ; ) {
    const reply = await converse(input, prompt, tools, maxTokens);
    const read = interpret(reply, input);
    if (read.kind !== "mistake" && !(read.kind === "answer" && isPlan(input, tools, read.text)))
      return read.kind === "calls" && input.model.local ? completeAll(read, message, input) : read;
    input.listener.discarded();
    if (read.kind === "mistake" ? repairs++ === MAX_REPAIRS : nudges++ === MAX_NUDGES)
      return { kind: "stuck", why: read.kind === "mistake" ? "unreadable" : "planning" };
    prompt.push(quote(reply.text), read.kind === "mistake" ? { role: "user", content: read.told } : nudge(nudges));
  }
};

function completeAll(calls: Calls, message: string, input: LaneInput): Step {
  return { ...calls, proposals: calls.proposals.map((each) => complete(each, message, input)) };
}

/** Whether a reply announces a call in place of making it. */
function isPlan({ model }: LaneInput, tools: readonly DeclaredTool[], text: string): boolean {
  return model.local && tools.length > 0 && looksLikePlanning(text);
}

/** The tools as the gateway wants to see them again: schemas untouched, forbidden ones left out. */
function declare(tools: readonly ToolDescriptor[]): DeclaredTool[] {
  return tools
    .filter((tool) => tool.permission !== "forbidden")
    .map(({ name, description, paramSchema }) => ({
      type: "function",
      function: { name, description, parameters: paramSchema },
    }));
}

async function converse(
  input: LaneInput,
  messages: readonly ChatMessage[],
  tools: readonly DeclaredTool[],
  maxTokens: number,
): Promise<Reply> {
  const { chat, listener, signal } = input;
  let shown = 0;
  const show = (text: string) => {
    if (text.length > shown) listener.streamed(text.slice(shown));
    shown = text.length;
  };
  const reply = await collect(chat, { messages, tools, maxTokens, temperature: 0, signal }, listener, (text) => {
    if (!mayBeCall(text)) show(text);
    return false;
  });
  if (reply.calls.length === 0 && !isCallInProse(reply.text, input)) show(reply.text);
  return reply;
}

type Calls = Extract<Step, { kind: "calls" }>;

/** A reply that can be used for nothing; `told` is what the model hears. */
interface Mistake {
  readonly kind: "mistake";
  readonly told: string;
}

function interpret(reply: Reply, input: LaneInput): Step | Mistake {
  if (reply.calls.length > 0) {
    const proposals = reply.calls.map(readCall);
    const broken = proposals.find((proposal) => typeof proposal === "string");
    if (broken !== undefined) return { kind: "mistake", told: mistakes.invalid.replace("{reason}", broken) };
    return asStep(reply.text, proposals as Proposal[], input.tools);
  }
  if (isCallInProse(reply.text, input)) return { kind: "mistake", told: mistakes.inProse };
  if (reply.text.trim() === "") return { kind: "mistake", told: mistakes.empty };
  return { kind: "answer", text: reply.text };
}

function asStep(text: string, proposals: readonly Proposal[], tools: readonly ToolDescriptor[]): Step {
  const real = proposals.filter((proposal) => !isRespond(proposal, tools));
  const said = proposals.filter((proposal) => isRespond(proposal, tools)).map((each) => messageOf(each.arguments));
  const words = [text, ...said].filter(Boolean).join("\n\n");
  return real.length > 0
    ? { kind: "calls", text: words, proposals: real, more: false }
    : { kind: "answer", text: words };
}

/** A proposal, or what is wrong with it. */
function readCall(call: { name: string; arguments: string }): Proposal | string {
  if (call.name === "" || call.name.length > MAX_NAME) return "it names no tool";
  const read = call.arguments.trim() === "" ? {} : readObject(call.arguments);
  if (!isFault(read)) return { name: call.name, arguments: read };
  const isOther = read.reason === "it is not a JSON object";
  return isOther ? "its arguments are not a JSON object" : "its arguments are not valid JSON";
}

/** Whether a text that has only begun could still become a call written as prose; until that is clear it is not shown. */
function mayBeCall(text: string): boolean {
  return /^\s*(?:$|\{|`{1,2}$|```\w*\s*$|```\w*\s*\{|<(?:$|\/?to))/.test(text);
}

/** Whether a reply is nothing but a tool call that a local model wrote as text: fences, tags and all. It is never run. */
function isCallInProse(text: string, { model, tools }: LaneInput): boolean {
  if (!model.local) return false;
  const bare = text.replaceAll(/```\w*|<\/?tools?(?:_call)?>/g, "").trim();
  const object = findObject(bare);
  if (object === null || object !== bare) return false;
  const value = readObject(object);
  if (isFault(value)) return false;
  const named = value.name ?? value.tool ?? value.function;
  return tools.some((tool) => tool.name === named);
}

function asChat(message: Message): ChatMessage {
  switch (message.role) {
    case "user":
      return { role: "user", content: neutralise(message.content) };
    case "assistant":
      return {
        role: "assistant",
        content: neutralise(message.content),
        ...(message.toolCalls.length > 0 && {
          tool_calls: message.toolCalls.map(({ id, name, arguments: given }) => ({
            id,
            type: "function" as const,
            function: { name, arguments: JSON.stringify(given) },
          })),
        }),
      };
    case "tool":
      return { role: "tool", tool_call_id: message.call.id, content: frameResult(message.call.name, message.result) };
  }
}
