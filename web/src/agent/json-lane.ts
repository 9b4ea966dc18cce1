import { actionSchema } from "./action-schema.ts";
import { cut, estimateTokens, fitMessages } from "./budget.ts";
import type { ChatMessage } from "./chat.ts";
import { quotable } from "./copied.ts";
import { copy, explainOutcome } from "./copy.ts";
import { collect, type Lane, type LaneInput, MAX_REPAIRS, repairTurn, type Step } from "./lane.ts";
import type { AssistantMessage, Message, ToolMessage, UserMessage } from "./messages.ts";
import { firstObject, parseAction, partialAnswer } from "./parse.ts";
import { actionPrefix, describeMistake, fixedReport, reportPrompt } from "./prompts.ts";
import { frameResult, neutralise } from "./provenance.ts";
import { isRespond, messageOf, offered } from "./respond.ts";

/** requirement 000-07: tokens of one step. */
const MAX_STEP_TOKENS = 256;
const MAX_REPORT_TOKENS = 256;
const PROMPT_MARGIN = 64;
/** Fewer than the usual four: results are paths, figures and code, which take more tokens than prose. */
const CHARACTERS_PER_TOKEN = 3;
/** What a model is told of its mistake, in characters: enough for the schema's complaint. */
const MISTAKE_LENGTH = 400;

/**
 * The lane of small models: they pick one action as JSON, held to a schema; a second, separate prompt words what came of it.
 * Measured on the default model: declared tools 0 % right calls, this 95 %; and asked for the next action after a result it
 * repeats the call, so it is asked to report instead.
 */
export const jsonLane: Lane = (input) => {
  const last = input.messages.findLast((message) => message.turnId === input.turnId && message.role !== "assistant");
  if (last?.role !== "tool") return pick(input, []);
  if (mayMend(input.messages, input.turnId, last))
    return pick(input, [repairTurn(neutralise(cut(describeMistake(last), MISTAKE_LENGTH)))]);
  // A person's no, a timeout and a refusal are said in our words: a small model makes a story of them.
  const said = last.result.outcome === "ok" ? fixedReport(last) : explainOutcome(last.call.name, last.result);
  return said === null ? report(input, last) : Promise.resolve({ kind: "answer", text: said });
};

/** Whether the model got its own call wrong, and may still try again. */
function mayMend(messages: readonly Message[], turnId: string, last: ToolMessage): boolean {
  const isMistake = (message: Message) =>
    message.role === "tool" &&
    message.turnId === turnId &&
    (message.result.outcome === "invalidArguments" || message.result.outcome === "unknownTool");
  return isMistake(last) && messages.filter(isMistake).length <= MAX_REPAIRS;
}

async function pick(input: LaneInput, closing: readonly ChatMessage[]): Promise<Step> {
  const { chat, listener, model, signal } = input;
  const tools = offered(input.tools);
  const prefix = actionPrefix(tools);
  const room = model.contextTokens - MAX_STEP_TOKENS - PROMPT_MARGIN - tokensOf(prefix) - tokensOf(closing);
  const { messages, dropped } = fitMessages(withoutResults(input.messages), Math.max(room, PROMPT_MARGIN));
  if (dropped > 0) listener.trimmed(dropped);
  const prompt = [...prefix, ...messages.map(asChat), ...closing];
  const schema = actionSchema(tools, quotable(input.messages));
  for (let attempt = 0; attempt <= MAX_REPAIRS; attempt++) {
    let shown = 0;
    const { text } = await collect(
      chat,
      { messages: prompt, schema, maxTokens: MAX_STEP_TOKENS, temperature: 0, signal },
      listener,
      (soFar) => {
        const answer = partialAnswer(soFar) ?? "";
        if (answer.length > shown) listener.streamed(answer.slice(shown));
        shown = Math.max(shown, answer.length);
        return goesOn(soFar);
      },
    );
    const action = parseAction(text);
    if (action.kind === "answer") return { kind: "answer", text: action.text };
    if (action.kind === "call") {
      if (isRespond(action.tool, input.tools)) return { kind: "answer", text: messageOf(action.arguments) };
      return { kind: "calls", text: "", proposals: [{ name: action.tool, arguments: action.arguments }] };
    }
    if (shown > 0) listener.discarded();
    prompt.push({ role: "assistant", content: neutralise(text) || "(nothing)" }, repairTurn(action.reason));
  }
  return { kind: "nothing" };
}

async function report(input: LaneInput, last: ToolMessage): Promise<Step> {
  const { chat, listener, model, signal } = input;
  const question = questionOf(input);
  const bare = tokensOf(reportPrompt(question, last, ""));
  const room = Math.max(0, model.contextTokens - MAX_REPORT_TOKENS - PROMPT_MARGIN - bare);
  const body = cut(last.result.content, room * CHARACTERS_PER_TOKEN);
  if (body !== last.result.content) listener.trimmed(0);
  const messages = reportPrompt(question, last, body);
  let shown = 0;
  const { text } = await collect(
    chat,
    { messages, maxTokens: MAX_REPORT_TOKENS, temperature: 0, signal },
    listener,
    (soFar) => {
      listener.streamed(soFar.slice(shown));
      shown = soFar.length;
      return false;
    },
  );
  return { kind: "answer", text: text.trim() === "" ? copy.worded : text };
}

/**
 * Whether a model talks on after its first complete object; then it is stopped. One that ends there by itself is let end, for
 * its token counts come last.
 */
function goesOn(text: string): boolean {
  const object = firstObject(text);
  return object !== null && text.slice(text.indexOf(object) + object.length).trim() !== "";
}

function questionOf({ messages, turnId }: LaneInput): string {
  return (
    messages.flatMap((each) => (each.role === "user" && each.turnId === turnId ? [each.content] : [])).at(-1) ?? ""
  );
}

/**
 * Earlier turns in the shape of the examples: what was asked, and the action that was chosen. Measured so: with results or
 * reports in between, the model goes on reporting.
 */
function withoutResults(messages: readonly Message[]): (UserMessage | AssistantMessage)[] {
  const acted = new Set(messages.flatMap((each) => (each.role === "tool" ? [each.turnId] : [])));
  return messages
    .filter((each) => each.role !== "tool")
    .filter((each) => each.role === "user" || each.toolCalls.length > 0 || !acted.has(each.turnId));
}

function asChat(message: Message): ChatMessage {
  if (message.role === "user") return { role: "user", content: neutralise(message.content) };
  if (message.role === "tool") return { role: "tool", content: frameResult(message.call.name, message.result) };
  const call = message.toolCalls.at(-1);
  const action = call ? { tool: call.name, arguments: call.arguments } : { answer: message.content };
  return { role: "assistant", content: neutralise(JSON.stringify(action)) };
}

function tokensOf(prompt: readonly ChatMessage[]): number {
  return prompt.reduce((sum, message) => sum + estimateTokens(message.content) + 8, 0);
}
