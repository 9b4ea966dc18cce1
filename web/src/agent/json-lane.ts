import limits from "../../../loop/limits.json" with { type: "json" };
import { actionSchema } from "./action-schema.ts";
import { listedWishes, plainWishes } from "./acts.ts";
import { cut, fitMessages, tokensOf, tokensOfPrompt } from "./budget.ts";
import { select } from "./candidates.ts";
import type { ChatMessage } from "./chat.ts";
import { condense } from "./condensing.ts";
import { copyableStrings } from "./copied.ts";
import { copy, explainOutcome, nameTheRest } from "./copy.ts";
import { hasCue, probePrompt, probeSchema, progress, readActions, summarise } from "./intents.ts";
import { collect, complete, type Lane, type LaneInput, type LaneStep, type ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { looksLikePlanning } from "./nudges.ts";
import { AnswerReader, parseEnvelope } from "./parse.ts";
import { actionPrefix, describeMistake, fixedReport, reportPrompt } from "./prompts.ts";
import { neutralise } from "./provenance.ts";
import { readingFor } from "./reading.ts";
import { correction, MAX_REPAIRS, RepairDialogue } from "./repair.ts";
import { isRespond, messageOf, offered } from "./respond.ts";
import { asChat, pastOf, presentOf, restated, type Spoken } from "./routing.ts";
import { isMistake, isRepeat, progressOf, type TurnProgress } from "./turn-progress.ts";

/** requirement 000-07: tokens of one step. */
const MAX_STEP_TOKENS = limits.jsonLaneTokens;
const PROMPT_MARGIN = limits.jsonLaneMargin;
/** Fewer than the usual four: results are paths, figures and code, which take more tokens than prose. */
const CHARACTERS_PER_TOKEN = limits.charactersPerDenseToken;
/** What a model is told of its mistake, in characters: enough for the schema's complaint. */
const MISTAKE_LENGTH = limits.mistakeCharacters;

/**
 * The lane of small models: they pick one action as JSON, held to a schema; a second, separate prompt words what came of it.
 * Measured on the default model: declared tools 0 % right calls, this 95 %; and asked for the next action after a result it
 * repeats the call, so it is asked to report instead, and each further action that the person named is picked on its own.
 */
export const jsonLane: Lane = async (input) => {
  const state = progressOf(input.messages, input.turnId);
  const { result } = state;
  if (maySplit(input)) {
    const listed = listedWishes(state.message);
    if (listed.length > 0) return { kind: "split", actions: listed };
    if (hasCue(state.message)) return split(input, state.message);
  }
  if (isOver(input, state)) return { kind: "answer", text: "" };
  if (result !== null && !(isMistake(result) && state.mistakes <= MAX_REPAIRS)) return conclude(input, state, result);
  if (!input.mayCall) return { kind: "stuck", why: "capped" };
  if (result === null) {
    const reading = mayAddMore(input) ? null : readingFor(askedFor(input, state), offered(input.tools));
    return reading === null ? pick(input, state, []) : propose(input, state, reading, false);
  }
  return pick(input, state, [
    { role: "user", content: correction(neutralise(cut(describeMistake(result), MISTAKE_LENGTH))) },
  ]);
};

/** Ask which actions a message asks for. One, in its own words, wherever the reply leaves a doubt. */
async function split({ chat, listener, signal }: LaneInput, message: string): Promise<LaneStep> {
  const { text } = await collect(
    chat,
    { messages: probePrompt(message), schema: probeSchema(), maxTokens: MAX_STEP_TOKENS, temperature: 0, signal },
    listener,
    "after-object",
  );
  const actions = readActions(text, message);
  const plain = actions.length > 1 ? [] : plainWishes(message);
  return { kind: "split", actions: plain.length > 0 ? plain : actions };
}

/** Whether everything has been said: a page was left between the last words and the end of the turn. */
function isOver(input: LaneInput, { finished, result }: TurnProgress): boolean {
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

async function pick(input: LaneInput, state: TurnProgress, closing: readonly ChatMessage[]): Promise<LaneStep> {
  const { turnId, chat, listener, signal } = input;
  const wish = askedFor(input, state);
  const tools = select(wish, offered(input.tools));
  const prefix = actionPrefix(tools, mayAddMore(input));
  const past = pastOf(input.shown, turnId);
  const present = presentFor(input, state);
  const limit = roomFor(input, prefix, closing);
  const condensed = await condense(input, [...past, ...present.slice(0, 1)], limit - tokensOf(present.slice(1)));
  if (condensed !== null) return condensed;
  const fitted = fitMessages([...past, ...present], limit);
  if (fitted.dropped > 0) listener.trimmed(fitted.dropped);
  const prompt = [...prefix, ...fitted.messages.filter((each) => each.role !== "tool").map(asChat), ...closing];
  const schema = actionSchema(tools, copyableStrings(input.messages, wish), mayAddMore(input));
  const dialogue = new RepairDialogue();
  while (true) {
    let isShown = false;
    const reader = new AnswerReader();
    const { text } = await collect(
      chat,
      { messages: [...prompt, ...dialogue.turns], schema, maxTokens: MAX_STEP_TOKENS, temperature: 0, signal },
      listener,
      "after-object",
      (soFar) => {
        const fresh = reader.read(soFar);
        if (fresh) {
          listener.streamed(fresh);
          isShown = true;
        }
      },
    );
    const action = parseEnvelope(text);
    if (action.kind === "call" && !isRespond(action.tool, input.tools))
      return propose(input, state, { name: action.tool, arguments: action.arguments }, action.more);
    const said = action.kind === "answer" ? action.text : action.kind === "call" ? messageOf(action.arguments) : null;
    if (said !== null && !(tools.length > 0 && looksLikePlanning(said))) return answer(input, state, said);
    if (isShown) listener.discarded();
    if (action.kind === "malformed") {
      if (!dialogue.repair(text, correction(action.reason))) return { kind: "stuck", why: "unreadable" };
    } else if (!dialogue.nudge(text)) return { kind: "stuck", why: "planning" };
  }
}

/** Tokens for the conversation, beside the beginning that never changes, what closes the prompt, and the reply. */
function roomFor({ model }: LaneInput, prefix: readonly ChatMessage[], closing: readonly ChatMessage[]): number {
  const room = model.contextTokens - MAX_STEP_TOKENS - PROMPT_MARGIN - tokensOfPrompt(prefix) - tokensOfPrompt(closing);
  return Math.max(room, PROMPT_MARGIN);
}

/** What the message asks for, and what of it was chosen so far. */
function presentFor(input: LaneInput, { closed, finished, message }: TurnProgress): Spoken[] {
  const { messages, turnId, actions } = input;
  if (!mayAddMore(input)) return presentOf(messages, turnId, actions ?? [message]);
  // Done steps are told, never replayed: a result could say anything, and a transcript would fill the context.
  const reminder = finished > 0 ? progress(closed.map(({ call, result }) => summarise(call, result))) : "";
  return restated(messages, turnId, reminder === "" ? message : `${message}\n\n${reminder}`);
}

function propose(input: LaneInput, state: TurnProgress, picked: ProposedCall, more: boolean): LaneStep {
  const proposal = complete(picked, askedFor(input, state), input);
  if (!isRepeat(proposal, state.closed, input.tools))
    return { kind: "calls", text: "", proposals: [proposal], more: more && mayAddMore(input) };
  // One that was told what is done and asks for it again has nothing left to ask for.
  return mayAddMore(input) ? { kind: "answer", text: "" } : { kind: "stuck", why: "repeated" };
}

function answer({ actions }: LaneInput, { finished }: TurnProgress, text: string): LaneStep {
  const count = actions?.length ?? 1;
  const said = count > 1 && text.trim() === "" ? copy.silent : text;
  return { kind: finished + 1 >= count ? "answer" : "report", text: said };
}

/** The words of the action under way. */
function askedFor({ actions }: LaneInput, { finished, message }: TurnProgress): string {
  return actions?.[finished] ?? message;
}

/** Say what came of an action, and whether another one follows. */
async function conclude(input: LaneInput, state: TurnProgress, last: ToolMessage): Promise<LaneStep> {
  const { outcome } = last.result;
  // A person's no, a timeout and a refusal are said in our words: a small model makes a story of them.
  const wish = askedFor(input, state);
  const said = outcome === "ok" ? fixedReport(last, wish) : explainOutcome(last.call.name, last.result);
  const text = said ?? (await report(input, wish, last));
  const rest = input.actions?.slice(state.finished + 1) ?? [];
  // What the person decided leaves the rest as it was asked; what failed may be what the rest stands on.
  const isSettled = outcome === "ok" || outcome === "deniedByUser";
  if (isSettled && (rest.length > 0 || input.more)) return { kind: "report", text };
  return { kind: "answer", text: rest.length > 0 ? `${text}\n\n${nameTheRest(rest)}` : text };
}

async function report(input: LaneInput, question: string, last: ToolMessage): Promise<string> {
  const { chat, listener, model, signal } = input;
  const bare = tokensOfPrompt(reportPrompt(question, last, ""));
  const room = Math.max(0, model.contextTokens - MAX_STEP_TOKENS - PROMPT_MARGIN - bare);
  const body = cut(last.result.content, room * CHARACTERS_PER_TOKEN);
  if (body !== last.result.content) listener.trimmed(0);
  const messages = reportPrompt(question, last, body);
  let shown = 0;
  const { text } = await collect(
    chat,
    { messages, maxTokens: MAX_STEP_TOKENS, temperature: 0, signal },
    listener,
    "stream",
    (soFar) => {
      if (soFar.length > shown) listener.streamed(soFar.slice(shown));
      shown = soFar.length;
    },
  );
  return text.trim() === "" ? copy.worded : text;
}
