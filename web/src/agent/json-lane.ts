import { actionSchema } from "./action-schema.ts";
import { cut, estimateTokens, fitMessages, tokensOf as tokensOfMessages } from "./budget.ts";
import { select } from "./candidates.ts";
import type { ChatMessage } from "./chat.ts";
import { condense } from "./condensing.ts";
import { quotable } from "./copied.ts";
import { copy, explainOutcome, nameTheRest } from "./copy.ts";
import { hasCue, probePrompt, probeSchema, progress, readActions, summarise } from "./intents.ts";
import { collect, complete, type Lane, type LaneInput, type Proposal, type Step } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { looksLikePlanning, MAX_NUDGES, nudge } from "./nudges.ts";
import { AnswerReader, ObjectScanner, parseEnvelope } from "./parse.ts";
import { actionPrefix, describeMistake, fixedReport, reportPrompt } from "./prompts.ts";
import { neutralise } from "./provenance.ts";
import { correction, MAX_REPAIRS, quote, repairTurns } from "./repair.ts";
import { isRespond, messageOf, offered } from "./respond.ts";
import { asChat, pastOf, presentOf, restated, type Spoken } from "./routing.ts";
import { isMistake, isRepeat, type Standing, standingOf } from "./standing.ts";

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
 * repeats the call, so it is asked to report instead, and each further action that the person named is picked on its own.
 */
export const jsonLane: Lane = async (input) => {
  const standing = standingOf(input.messages, input.turnId);
  const { result } = standing;
  if (maySplit(input) && hasCue(standing.message)) return split(input, standing.message);
  if (isOver(input, standing)) return { kind: "answer", text: "" };
  if (result !== null && !(isMistake(result) && standing.mistakes <= MAX_REPAIRS))
    return conclude(input, standing, result);
  if (!input.mayCall) return { kind: "stuck", why: "capped" };
  if (result === null) return pick(input, standing, []);
  return pick(input, standing, [
    { role: "user", content: correction(neutralise(cut(describeMistake(result), MISTAKE_LENGTH))) },
  ]);
};

/** Ask which actions a message asks for. One, in its own words, wherever the reply leaves a doubt. */
async function split({ chat, listener, signal }: LaneInput, message: string): Promise<Step> {
  const { text } = await collect(
    chat,
    { messages: probePrompt(message), schema: probeSchema(), maxTokens: MAX_STEP_TOKENS, temperature: 0, signal },
    listener,
    overrun(),
  );
  return { kind: "split", actions: readActions(text, message) };
}

/** Whether everything has been said: a page was left between the last words and the end of the turn. */
function isOver(input: LaneInput, { finished, result }: Standing): boolean {
  if (result !== null) return false;
  if (mayAddMore(input)) return finished > 0 && !input.more;
  return finished >= (input.actions?.length ?? 1);
}

/** Whether it is still open, and worth asking, what the message asks for. Without tools there is nothing to take apart. */
function maySplit(input: LaneInput): boolean {
  return input.actions === null && !mayAddMore(input) && offered(input.tools).length > 0;
}

/** Whether the model can say beside a call that others follow; then nobody has to ask it apart. */
function mayAddMore({ model }: LaneInput): boolean {
  return model.more === true;
}

async function pick(input: LaneInput, standing: Standing, closing: readonly ChatMessage[]): Promise<Step> {
  const { turnId, chat, listener, signal } = input;
  const wish = askedFor(input, standing);
  const tools = select(wish, offered(input.tools));
  const prefix = actionPrefix(tools, mayAddMore(input));
  const past = pastOf(input.shown, turnId);
  const present = presentFor(input, standing);
  const limit = roomFor(input, prefix, closing);
  const condensed = await condense(
    input,
    [...past, ...present.slice(0, 1)],
    limit - tokensOfMessages(present.slice(1)),
  );
  if (condensed !== null) return condensed;
  const fitted = fitMessages([...past, ...present], limit);
  if (fitted.dropped > 0) listener.trimmed(fitted.dropped);
  const prompt = [...prefix, ...fitted.messages.filter((each) => each.role !== "tool").map(asChat), ...closing];
  const schema = actionSchema(tools, quotable(input.messages, wish), mayAddMore(input));
  for (let [repairs, nudges] = [0, 0]; ; ) {
    let isShown = false;
    const [reader, goesOn] = [new AnswerReader(), overrun()];
    const { text } = await collect(
      chat,
      { messages: prompt, schema, maxTokens: MAX_STEP_TOKENS, temperature: 0, signal },
      listener,
      (soFar) => {
        const fresh = reader.read(soFar);
        if (fresh) {
          listener.streamed(fresh);
          isShown = true;
        }
        return goesOn(soFar);
      },
    );
    const action = parseEnvelope(text);
    if (action.kind === "call" && !isRespond(action.tool, input.tools))
      return propose(input, standing, { name: action.tool, arguments: action.arguments }, action.more);
    const said = action.kind === "answer" ? action.text : action.kind === "call" ? messageOf(action.arguments) : null;
    if (said !== null && !(tools.length > 0 && looksLikePlanning(said))) return answer(input, standing, said);
    if (isShown) listener.discarded();
    if (said === null ? repairs++ === MAX_REPAIRS : nudges++ === MAX_NUDGES)
      return { kind: "stuck", why: said === null ? "unreadable" : "planning" };
    prompt.push(...(action.kind === "malformed" ? repairTurns(text, action.reason) : [quote(text), nudge(nudges)]));
  }
}

/** Tokens for the conversation, beside the beginning that never changes, what closes the prompt, and the reply. */
function roomFor({ model }: LaneInput, prefix: readonly ChatMessage[], closing: readonly ChatMessage[]): number {
  const room = model.contextTokens - MAX_STEP_TOKENS - PROMPT_MARGIN - tokensOf(prefix) - tokensOf(closing);
  return Math.max(room, PROMPT_MARGIN);
}

/** What the message asks for, and what of it was chosen so far. */
function presentFor(input: LaneInput, { closed, finished, message }: Standing): Spoken[] {
  const { messages, turnId, actions } = input;
  if (!mayAddMore(input)) return presentOf(messages, turnId, actions ?? [message]);
  // Done steps are told, never replayed: a result could say anything, and a transcript would fill the context.
  const reminder = finished > 0 ? progress(closed.map(({ call, result }) => summarise(call, result))) : "";
  return restated(messages, turnId, reminder === "" ? message : `${message}\n\n${reminder}`);
}

function propose(input: LaneInput, standing: Standing, picked: Proposal, more: boolean): Step {
  const proposal = complete(picked, askedFor(input, standing), input);
  if (!isRepeat(proposal, standing.closed, input.tools))
    return { kind: "calls", text: "", proposals: [proposal], more: more && mayAddMore(input) };
  // One that was told what is done and asks for it again has nothing left to ask for.
  return mayAddMore(input) ? { kind: "answer", text: "" } : { kind: "stuck", why: "repeated" };
}

function answer({ actions }: LaneInput, { finished }: Standing, text: string): Step {
  const count = actions?.length ?? 1;
  const said = count > 1 && text.trim() === "" ? copy.silent : text;
  return { kind: finished + 1 >= count ? "answer" : "report", text: said };
}

/** The words of the action under way. */
function askedFor({ actions }: LaneInput, { finished, message }: Standing): string {
  return actions?.[finished] ?? message;
}

/** Say what came of an action, and whether another one follows. */
async function conclude(input: LaneInput, standing: Standing, last: ToolMessage): Promise<Step> {
  const { outcome } = last.result;
  // A person's no, a timeout and a refusal are said in our words: a small model makes a story of them.
  const said = outcome === "ok" ? fixedReport(last) : explainOutcome(last.call.name, last.result);
  const text = said ?? (await report(input, askedFor(input, standing), last));
  const rest = input.actions?.slice(standing.finished + 1) ?? [];
  // What the person decided leaves the rest as it was asked; what failed may be what the rest stands on.
  const isSettled = outcome === "ok" || outcome === "deniedByUser";
  if (isSettled && (rest.length > 0 || input.more)) return { kind: "report", text };
  return { kind: "answer", text: rest.length > 0 ? `${text}\n\n${nameTheRest(rest)}` : text };
}

async function report(input: LaneInput, question: string, last: ToolMessage): Promise<string> {
  const { chat, listener, model, signal } = input;
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
  return text.trim() === "" ? copy.worded : text;
}

/**
 * Notices, in the text so far, when a model talks on after its first complete object; then it is stopped. One that ends there by
 * itself is let end, for its token counts come last.
 */
function overrun(): (text: string) => boolean {
  const scanner = new ObjectScanner();
  let [read, end] = [0, -1];
  return (text) => {
    const found = scanner.feed(text.slice(read));
    if (found !== null && end < 0) read = end = text.indexOf(found) + found.length;
    const goesOn = end >= 0 && text.slice(read).trim() !== "";
    read = text.length;
    return goesOn;
  };
}

function tokensOf(prompt: readonly ChatMessage[]): number {
  return prompt.reduce((sum, message) => sum + estimateTokens(message.content) + 8, 0);
}
