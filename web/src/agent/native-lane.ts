import limits from "../../../loop/limits.json" with { type: "json" };
import mistakes from "../../../loop/mistakes.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { estimateTokens, fitMessages, tokensOf } from "./budget.ts";
import { carryDropped } from "./carried-step.ts";
import type { ChatMessage, DeclaredTool } from "./chat.ts";
import { condense } from "./condensing.ts";
import { continued, unfinishedWord } from "./continuing.ts";
import { fill } from "./fill.ts";
import { imagesOf, shownImages } from "./images.ts";
import {
  collect,
  complete,
  type Lane,
  type LaneInput,
  type LaneStep,
  type ModelReply,
  type ProposedCall,
} from "./lane.ts";
import type { Message } from "./messages.ts";
import { looksLikePlanning } from "./nudges.ts";
import { findObject, isParseFailure, MAX_NAME, readObject } from "./parse.ts";
import { frameResult, neutralise } from "./provenance.ts";
import { RepairDialogue } from "./repair.ts";
import { injectRespond, isRespond, messageOf } from "./respond.ts";
import { shareRoom } from "./shares.ts";
import { isLooping, progressOf, type TurnProgress } from "./turn-progress.ts";

const { system, image, continue: goOn } = words.native;
const SYSTEM = system.join("\n");

/** A reply longer than this is no longer read by anyone. */
const MAX_ANSWER_TOKENS = limits.nativeLaneTokens;
const PROMPT_MARGIN = limits.nativeLaneMargin;

/**
 * The lane of models that do tool calls: messages and declared tools in, text and tool calls out. What a remote model writes
 * is taken at its word, and its calls may repeat; a local one that only announces a call, writes it as prose or goes in a
 * circle is told so, or stopped.
 */
export const nativeLane: Lane = async (input) => {
  const state = progressOf(input.messages, input.turnId);
  const { closed, finished } = state;
  // A page that was left between the last words and the end of the turn.
  if (finished > 0) return { kind: "answer", text: "" };
  if (!input.mayCall) return { kind: "stuck", why: "capped" };
  if (input.model.local && isLooping(closed)) return { kind: "stuck", why: "looping" };
  const maxTokens = Math.min(MAX_ANSWER_TOKENS, input.model.outputTokens || MAX_ANSWER_TOKENS);
  const { tools } = injectRespond(declare(input.tools));
  const room = input.model.contextTokens - maxTokens - PROMPT_MARGIN - estimateTokens(JSON.stringify(tools));
  const seen = input.model.seesImages === true ? shownImages(input.shown) : new Set<string>();
  const limit = Math.max(room - seen.size * limits.imageTokens, PROMPT_MARGIN);
  const condensed = await condense(input, input.shown, limit);
  if (condensed !== null) return condensed;
  const shared = shareRoom(input.shown, limit, input.tools);
  const { messages, dropped, shortened } = fitMessages(shared.messages, limit);
  if (dropped > 0 || shortened || shared.isNew) input.listener.trimmed(dropped);
  const prompt: ChatMessage[] = [{ role: "system", content: SYSTEM }, ...messages.flatMap((each) => tell(each, seen))];
  const free = room - seen.size * limits.imageTokens - tokensOf(messages);
  const most = Math.min(maxTokens + Math.max(free, 0), input.model.outputTokens || maxTokens);
  const dialogue = new RepairDialogue();
  while (true) {
    const reply = await hear(input, [...prompt, ...dialogue.turns], tools, { step: maxTokens, most });
    const read = interpret(reply, input);
    if (reply.cut !== null) {
      if (read.kind === "mistake" && reply.cut !== "calls") {
        // It would be cut off again at the same place, and each time may cost money.
        input.listener.discarded();
        return { kind: "stuck", why: reply.cut === "length" ? "cut" : "filtered" };
      }
      input.listener.cut(reply.cut);
    }
    if (read.kind !== "mistake" && !(read.kind === "answer" && isPlan(input, tools, read.text)))
      return settled(read, state, input);
    input.listener.discarded();
    if (read.kind === "mistake") {
      if (!dialogue.repair(reply.text, read.told)) return { kind: "stuck", why: "unreadable" };
    } else if (!dialogue.nudge(reply.text)) return { kind: "stuck", why: "planning" };
  }
};

/** The step of a reply that can be used: an answer that leaves out what the words ask for is followed by that call. */
function settled(read: LaneStep, state: TurnProgress, input: LaneInput): LaneStep {
  if (read.kind === "calls") return input.model.local ? completeAll(read, state.message, input) : read;
  const isQuestion = read.kind === "answer" && read.text.trim().endsWith("?");
  return (isQuestion ? null : carryDropped(input, state)) ?? read;
}

function completeAll(calls: Calls, message: string, input: LaneInput): LaneStep {
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

/** Tokens of one step, and the most that a reply may take where that is too few. */
interface Room {
  readonly step: number;
  readonly most: number;
}

/**
 * A reply. An answer that is cut off goes on in further steps; a call that is, or a reply that came to nothing but thinking, is
 * asked for again with more room. Either takes no more than the model may write at once.
 */
async function hear(
  input: LaneInput,
  prompt: readonly ChatMessage[],
  tools: readonly DeclaredTool[],
  { step, most }: Room,
): Promise<ModelReply> {
  let tokens = step;
  let taken = step;
  let reply = await converse(input, prompt, tools, tokens);
  while (reply.cut === "length" && taken < most) {
    if (interpret(reply, input).kind === "mistake") {
      tokens = Math.min(tokens * limits.nativeLaneGrowth, most);
      taken = tokens;
      input.listener.discarded();
      reply = await converse(input, prompt, tools, tokens);
    } else if (reply.calls.length > 0) {
      break;
    } else {
      taken += tokens;
      const whole = reply.text.slice(0, reply.text.length - unfinishedWord(reply.text).length);
      const said: ChatMessage = { role: "assistant", content: neutralise(whole) };
      reply = await converse(input, [...prompt, said, { role: "user", content: goOn }], tools, tokens, reply.text);
    }
  }
  return reply;
}

/** One request. What it says comes after `before`, which was shown already. */
async function converse(
  input: LaneInput,
  messages: readonly ChatMessage[],
  tools: readonly DeclaredTool[],
  maxTokens: number,
  before = "",
): Promise<ModelReply> {
  const { chat, listener, signal } = input;
  let shown = before.length;
  const show = (text: string) => {
    if (text.length > shown) listener.streamed(text.slice(shown));
    shown = text.length;
  };
  const heard = await collect(
    chat,
    { messages, tools, maxTokens, temperature: 0, signal },
    listener,
    "stream",
    (text) => {
      if (before !== "" || !mayBeCall(text)) show(continued(before, text));
    },
  );
  const reply: ModelReply = { ...heard, text: continued(before, heard.text) };
  if (reply.calls.length === 0 && !isCallInProse(reply.text, input)) show(reply.text);
  return reply;
}

type Calls = Extract<LaneStep, { kind: "calls" }>;

/** A reply that can be used for nothing; `told` is what the model hears. */
interface Mistake {
  readonly kind: "mistake";
  readonly told: string;
}

function interpret(reply: ModelReply, input: LaneInput): LaneStep | Mistake {
  if (reply.calls.length > 0) {
    // Its arguments were still to come; without them it would be another call.
    if (reply.cut === "length" && reply.calls.at(-1)?.arguments.trim() === "")
      return { kind: "mistake", told: mistakes.callWithoutJson };
    const proposals = reply.calls.map(readCall);
    const broken = proposals.find((proposal) => typeof proposal === "string");
    if (broken !== undefined) return { kind: "mistake", told: fill(mistakes.wrongCall, () => broken) };
    return asStep(reply.text, proposals as ProposedCall[], input.tools);
  }
  if (isCallInProse(reply.text, input)) return { kind: "mistake", told: mistakes.callInProse };
  if (reply.text.trim() === "") return { kind: "mistake", told: mistakes.emptyReply };
  return { kind: "answer", text: reply.text };
}

function asStep(text: string, proposals: readonly ProposedCall[], tools: readonly ToolDescriptor[]): LaneStep {
  const real = proposals.filter((proposal) => !isRespond(proposal, tools));
  const said = proposals.filter((proposal) => isRespond(proposal, tools)).map((each) => messageOf(each.arguments));
  const words = [text, ...said].filter(Boolean).join("\n\n");
  return real.length > 0 ? { kind: "calls", text: words, proposals: real } : { kind: "answer", text: words };
}

/** A proposal, or what is wrong with it. */
function readCall(call: { name: string; arguments: string }): ProposedCall | string {
  if (call.name === "" || call.name.length > MAX_NAME) return mistakes.noTool;
  const read = call.arguments.trim() === "" ? {} : readObject(call.arguments);
  if (!isParseFailure(read)) return { name: call.name, arguments: read };
  const isOther = read.reason === mistakes.otherJson;
  return isOther ? mistakes.callWithOtherJson : mistakes.callWithoutJson;
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
  if (isParseFailure(value)) return false;
  const named = value.name ?? value.tool ?? value.function;
  return tools.some((tool) => tool.name === named);
}

/** A message, and behind the result of an attachment its images: no result has room for one. */
function tell(message: Message, seen: ReadonlySet<string>): ChatMessage[] {
  const shown = imagesOf(message).filter((id) => seen.has(id));
  return [asChat(message), ...shown.map((id): ChatMessage => ({ role: "user", content: image, image: id }))];
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
