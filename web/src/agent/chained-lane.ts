import limits from "../../../loop/limits.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { actionSchema } from "./action-schema.ts";
import { showClosest, sourceOf } from "./answers.ts";
import { fitMessages, tokensOf, tokensOfPrompt } from "./budget.ts";
import { select } from "./candidates.ts";
import {
  carried,
  carryingIn,
  isCarried,
  mustBeWorkedOut,
  nextLook,
  ownValue,
  questionOf,
  readFor,
} from "./carrying.ts";
import { asDialogue, chainedPrefix } from "./chained-prompt.ts";
import { type Choice, choose, MAX_STEP_TOKENS } from "./choosing.ts";
import { condense } from "./condensing.ts";
import { copyableStrings } from "./copied.ts";
import { copy, explainOutcome } from "./copy.ts";
import { callMayFollow, mayFollow } from "./following.ts";
import { foundNames, withFound } from "./found.ts";
import { complete, type Lane, type LaneInput, type LaneStep } from "./lane.ts";
import type { Message } from "./messages.ts";
import { saidTools } from "./plain-calls.ts";
import { readingOfFound } from "./reading.ts";
import { MAX_REPAIRS } from "./repair.ts";
import { offered } from "./respond.ts";
import { pastOf } from "./routing.ts";
import { shareRoom } from "./shares.ts";
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
 * that there is. A call that the model makes again, or that only a result asks for, is not sent: it is asked to answer.
 */
export const chainedLane: Lane = async (input) => {
  const state = progressOf(input.messages, input.turnId);
  // A page that was left between the last words and the end of the turn.
  if (state.finished > 0) return { kind: "answer", text: "" };
  const last = state.result;
  if (last !== null && (!SHOWN.has(last.result.outcome) || (isMistake(last) && state.mistakes > MAX_REPAIRS)))
    return { kind: "answer", text: explainOutcome(last.call.name, last.result) };
  if (!input.mayCall) return { kind: "stuck", why: "capped" };
  if (isLooping(state.closed)) return { kind: "stuck", why: "looping" };
  const step = carry(input, state);
  if (step !== null) return step;
  const reading = readingOfFound(state.message, state.closed, offered(input.tools));
  if (reading !== null) return { kind: "calls", text: "", proposals: [reading] };
  const tools = select(state.message, saidTools(state.message, offered(input.tools)));
  const chosen = await ask(input, state, tools, tools.length > 0);
  if (chosen.kind !== "call") return chosen;
  const proposal = complete(chosen.call, state.message, input);
  const isDone = isRepeat(proposal, state.closed, input.tools);
  if (!isDone && callMayFollow(state.message, state.closed, proposal, input.tools))
    return { kind: "calls", text: "", proposals: [proposal] };
  const answered = await ask(input, state, tools, false);
  return answered.kind === "call" ? { kind: "stuck", why: "repeated" } : answered;
};

/**
 * What is found goes into the call that the wish asks for, where code can tell all of it: a path that only a search gave is no choice
 * of a model. Where words have to be found, or something failed, the model goes on.
 */
function carry(input: LaneInput, { message, closed }: TurnProgress): LaneStep | null {
  const tools = offered(input.tools);
  const carrying = carryingIn(message, tools);
  if (carrying === null || isCarried(carrying, closed) || closed.some(({ result }) => result.outcome !== "ok"))
    return null;
  let look = closed.length > 0 ? nextLook(carrying, closed, tools) : carrying.first;
  if (typeof look === "string") return { kind: "answer", text: look };
  if (look === null) {
    const answering = readFor(carrying, closed, tools);
    const value = ownValue(carrying, answering);
    if (value === null && mustBeWorkedOut(carrying))
      return { kind: "answer", text: showClosest(copy.notComputed, questionOf(carrying), sourceOf(answering)) };
    look = value === null ? null : carried(carrying, value);
  }
  return look === null || isRepeat(look, closed, input.tools) ? null : { kind: "calls", text: "", proposals: [look] };
}

/** The next action of the model, out of all that the turn has come to. Without `canCall` it can only answer. */
async function ask(
  input: LaneInput,
  { message, closed }: TurnProgress,
  tools: readonly ToolDescriptor[],
  canCall: boolean,
): Promise<Choice | LaneStep> {
  const { messages, turnId, model, listener } = input;
  const prefix = chainedPrefix(tools);
  const past = pastOf(input.shown, turnId);
  const present = messages.filter((each) => each.turnId === turnId);
  const bare = present.map(bareOf);
  const around = tokensOfPrompt(asDialogue(bare)) - tokensOf(bare);
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
  const callable = canCall ? tools.filter((tool) => mayFollow(message, closed, tool)) : [];
  const schema = actionSchema(callable, own, withFound(own, foundNames(messages, input.tools)), message);
  return choose(input, [...prefix, ...asDialogue(spoken)], schema, canCall);
}

/** A message without what may be cut of it. */
function bareOf(message: Message): Message {
  return message.role === "tool" ? { ...message, result: { ...message.result, content: "" } } : message;
}
