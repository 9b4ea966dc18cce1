import limits from "../../../loop/limits.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { actionSchema } from "./action-schema.ts";
import { isAskedFor } from "./asked.ts";
import { fitMessages, tokensOf, tokensOfPrompt } from "./budget.ts";
import { select } from "./candidates.ts";
import { carryOn, directOn } from "./carried-step.ts";
import { asDialogue, chainedPrefix } from "./chained-prompt.ts";
import type { ChatMessage } from "./chat.ts";
import { type Choice, choose, MAX_STEP_TOKENS } from "./choosing.ts";
import { condense } from "./condensing.ts";
import { copyableStrings } from "./copied.ts";
import { explainOutcome } from "./copy.ts";
import { callMayFollow, mayFollow } from "./following.ts";
import { foundNames, withFound } from "./found.ts";
import { jsonLane } from "./json-lane.ts";
import { asAddition } from "./keeping.ts";
import { knownStep } from "./known-steps.ts";
import { complete, type Lane, type LaneInput, type LaneStep } from "./lane.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { saidTools } from "./plain-calls.ts";
import { readingOfFound } from "./reading.ts";
import { reckonedIn } from "./reckoning.ts";
import { requiredOf } from "./render.ts";
import { MAX_REPAIRS } from "./repair.ts";
import { offered } from "./respond.ts";
import { pastOf } from "./routing.ts";
import { separateWishes } from "./separate.ts";
import { shareRoom } from "./shares.ts";
import { correctionOf, faultOf, passageOf } from "./supporting.ts";
import { isLooping, isMistake, isRepeat, progressOf, type TurnProgress } from "./turn-progress.ts";

const PROMPT_MARGIN = limits.jsonLaneMargin;

/**
 * Outcomes that the model goes on from. A person's no, a refusal and a timeout end the turn in our words: a small model makes a
 * story of them, and asks again.
 */
const SHOWN: ReadonlySet<string> = new Set(["ok", "executionError", "invalidArguments", "unknownTool"]);

/**
 * The lane of models that read what they find: one JSON action, its result shown back, then the next action or the answer. What
 * it is shown of a result is data from outside: framed with where it comes from, with chat markers broken, and cut to the room
 * that there is. A call that the model makes again, or that only a result asks for, is not sent: it is asked to answer. An answer that
 * says what no result does is asked for once more, and a passage of a result takes its place after that. Several wishes of which none
 * stands on another are taken one by one, as the lane of small models takes them.
 */
export const chainedLane: Lane = async (input) => {
  if (input.actions !== null) return jsonLane(input);
  const state = progressOf(input.messages, input.turnId);
  const wishes = separateWishes(state.message, offered(input.tools));
  if (wishes.length > 0) return { kind: "split", actions: wishes };
  // A page that was left between the last words and the end of the turn.
  if (state.finished > 0) return { kind: "answer", text: "" };
  const isLastMistake = (each: ToolMessage) => isMistake(each) && state.mistakes > MAX_REPAIRS;
  const ended = state.results.filter((each) => !SHOWN.has(each.result.outcome) || isLastMistake(each));
  if (ended.length > 0) {
    const said = new Set(ended.map(({ call, result }) => explainOutcome(call.name, result)));
    return { kind: "answer", text: [...said].join("\n\n") };
  }
  const reckoned = reckonedIn(state.message);
  if (reckoned !== null) return { kind: "answer", text: reckoned };
  if (!input.mayCall) return { kind: "stuck", why: "capped" };
  if (isLooping(state.closed)) return { kind: "stuck", why: "looping" };
  const step = carryOn(input, state) ?? directOn(input, state) ?? knownStep(input, state);
  if (step !== null) return step;
  const reading = readingOfFound(state.message, state.closed, offered(input.tools));
  if (reading !== null) return { kind: "calls", text: "", proposals: [reading] };
  const tools = select(state.message, saidTools(state.message, offered(input.tools)));
  const first = await ask(input, state, tools, tools.length > 0);
  const fault = faultIn(input, state, first);
  if (fault !== null) input.listener.discarded();
  const closing = first.kind === "answer" && fault !== null ? correctionOf(first.text, fault) : [];
  const chosen = closing.length > 0 ? await ask(input, state, tools, tools.length > 0, closing) : first;
  if (chosen.kind !== "call") return held(input, state, chosen);
  // A model that has read the file in this turn may well write all of it, with the addition.
  const isFirst = state.closed.length === 0;
  const asked = isFirst ? asAddition(chosen.call, state.message, offered(input.tools)) : chosen.call;
  const proposal = complete(asked, state.message, input);
  const isDone = isRepeat(proposal, state.closed, input.tools);
  if (!isDone && callMayFollow(state.message, state.closed, proposal, input.tools))
    return { kind: "calls", text: "", proposals: [proposal] };
  const answered = await ask(input, state, tools, false);
  return answered.kind === "call" ? { kind: "stuck", why: "repeated" } : held(input, state, answered);
};

/** An answer that is borne out, or the passage of a result in its place. */
function held(input: LaneInput, state: TurnProgress, chosen: LaneStep): LaneStep {
  if (faultIn(input, state, chosen) === null) return chosen;
  input.listener.discarded();
  return { kind: "answer", text: passageOf(state.message, state.closed) };
}

function faultIn({ messages, tools }: LaneInput, { message, closed }: TurnProgress, chosen: Choice | LaneStep) {
  return chosen.kind === "answer" ? faultOf(chosen.text, message, messages, closed, tools) : null;
}

/**
 * The next action of the model, out of all that the turn has come to, and `closing` after it. Without `canCall` it can only answer.
 */
async function ask(
  input: LaneInput,
  { message, closed }: TurnProgress,
  tools: readonly ToolDescriptor[],
  canCall: boolean,
  closing: readonly ChatMessage[] = [],
): Promise<Choice | LaneStep> {
  const { messages, turnId, model, listener } = input;
  const prefix = chainedPrefix(tools);
  const past = pastOf(input.shown, turnId);
  const present = messages.filter((each) => each.turnId === turnId);
  const bare = present.map(bareOf);
  const around = tokensOfPrompt([...asDialogue(bare), ...closing]) - tokensOf(bare);
  const room = model.contextTokens - MAX_STEP_TOKENS - PROMPT_MARGIN - tokensOfPrompt(prefix) - around;
  const limit = Math.max(room, PROMPT_MARGIN);
  const condensed = await condense(input, [...past, ...present.slice(0, 1)], limit - tokensOf(bare.slice(1)));
  if (condensed !== null) return condensed;
  // It writes no id that stands in no result, so it is not told how to read on.
  const shared = shareRoom([...past, ...present], limit, []);
  const { messages: fitted, dropped, shortened } = fitMessages(shared.messages, limit);
  if (dropped > 0 || shortened || shared.isNew) listener.trimmed(dropped);
  const spoken = fitted.filter((each) => each.turnId === turnId || each.role !== "tool");
  const own = copyableStrings(messages, message);
  // Only the schema changes from step to step: the beginning of the prompt stays the same, and with it the server's cache.
  const callable = canCall ? tools.filter((tool) => hasReason(message, tool) && mayFollow(message, closed, tool)) : [];
  const schema = actionSchema(callable, own, withFound(own, foundNames(messages, input.tools)), message);
  return choose(input, [...prefix, ...asDialogue(spoken), ...closing], schema, canCall);
}

/**
 * Whether a tool takes an argument, or the wish has a word for it: one that can always be called is what a small model calls where it
 * knows nothing else.
 */
function hasReason(wish: string, tool: ToolDescriptor): boolean {
  const takesAny = requiredOf(tool.paramSchema).length > 0 || !Object.hasOwn(words.action.descriptions, tool.name);
  return takesAny || isAskedFor({}, tool, wish, false);
}

/** A message without what may be cut of it. */
function bareOf(message: Message): Message {
  return message.role === "tool" ? { ...message, result: { ...message.result, content: "" } } : message;
}
