import limits from "../../../loop/limits.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { actionSchema } from "./action-schema.ts";
import { askedActs } from "./acts.ts";
import { hasWrongNumber, isEcho, ownAnswer, showClosest, sourceOf } from "./answers.ts";
import { isAskedFor, isOfAnother } from "./asked.ts";
import { attachedFor } from "./attached-asked.ts";
import { cut, fitMessages, tokensOf, tokensOfPrompt } from "./budget.ts";
import { toolsCalledFor } from "./called-for.ts";
import { select } from "./candidates.ts";
import {
  type Carrying,
  carryingIn,
  isCarried,
  linesAbout,
  mustBeWorkedOut,
  nextLook,
  ownValue,
  questionOf,
  readFor,
  shownValue,
} from "./carrying.ts";
import type { ChatMessage } from "./chat.ts";
import { choose, MAX_STEP_TOKENS } from "./choosing.ts";
import { comparisonIn, nextCompared } from "./comparing.ts";
import { condense } from "./condensing.ts";
import { copyableStrings, NOTHING_SAID } from "./copied.ts";
import { copy, nameTheRest } from "./copy.ts";
import { type Directed, directedIn, nextDirected, stoppedAt } from "./directed.ts";
import { callForFile } from "./file-asked.ts";
import { fill } from "./fill.ts";
import { findingIn } from "./finding.ts";
import { withForeseen } from "./foreseen.ts";
import {
  answeringCall,
  askedOfFile,
  callsUnderWay,
  foundNoWord,
  furtherCall,
  leftOpen,
  lookingFor,
  namesFor,
  pickedShown,
  pointedReading,
  queryThatFound,
  resolved,
} from "./further.ts";
import { gatheringStep, withoutNames } from "./gathered-step.ts";
import { narrowed } from "./grounded.ts";
import { hasCue, probePrompt, probeSchema, readActions } from "./intents.ts";
import { readingOfDone } from "./just-done.ts";
import { asAddition, keptCall, withoutLook } from "./keeping.ts";
import { withoutReader } from "./kept.ts";
import { collect, complete, type Lane, type LaneInput, type LaneStep, type ProposedCall } from "./lane.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { lookAgain, namePlaces, withoutMiss } from "./misplaced.ts";
import { nextPage } from "./paging.ts";
import { withDay } from "./papers.ts";
import { withPartTold } from "./partial-looks.ts";
import { placeOf, repeatsQuestion } from "./passages.ts";
import { pickedFrom } from "./picking.ts";
import { plainCall, saidTools } from "./plain-calls.ts";
import { actionPrefix, describeMistake } from "./prompts.ts";
import { neutralise } from "./provenance.ts";
import { asksForNamed, questionsIn } from "./questions.ts";
import { termsIn } from "./ranking.ts";
import { readAgain } from "./read-before.ts";
import { orderedReading, readingFor } from "./reading.ts";
import { reckonedIn } from "./reckoning.ts";
import { fromMemory, outOfMemory, withoutCall } from "./remembered.ts";
import { correction, MAX_REPAIRS } from "./repair.ts";
import { offered } from "./respond.ts";
import { asChat, pastOf, presentOf } from "./routing.ts";
import { showChoices } from "./row-choices.ts";
import { changesAmong } from "./taking.ts";
import { isMistake, isRepeat, progressOf, type TurnProgress } from "./turn-progress.ts";
import { restCall, withRest } from "./whole-files.ts";
import { wishesIn } from "./wishes.ts";
import { withheldWords } from "./withheld.ts";
import { isNoAnswer, PROMPT_MARGIN, report, worded } from "./wording.ts";

/** What a model is told of its mistake, in characters: enough for the schema's complaint. */
const MISTAKE_LENGTH = limits.mistakeCharacters;

/**
 * The lane of small models: they pick one action as JSON, held to a schema; a second, separate prompt words what came of it.
 * Measured on the default model: declared tools 0 % right calls, this 95 %; and asked for the next action after a result it
 * repeats the call, so it is asked to report instead, and each further action that the person named is picked on its own. Calls of
 * wishes in a row that a person is asked about are proposed together.
 */
export const jsonLane: Lane = async (whole) => {
  const state = progressOf(whole.messages, whole.turnId);
  const wish = askedFor(whole, state);
  const isFresh = state.closed.length === 0;
  const attached = isFresh ? attachedFor(wish, whole.messages, whole.turnId, offered(whole.tools)) : null;
  if (attached !== null) return answer(whole, state, await answerFrom(whole, wish, [attached]));
  const begun = gatheringStep(whole, state, wish, () => firstCall(whole, state));
  const gathered = begun === "" ? await fromMemory(whole, wish, state.closed) : begun;
  if (typeof gathered === "string") return answer(whole, state, gathered);
  if (gathered !== null) return { kind: "calls", text: "", proposals: gathered };
  const input = withoutNames(whole);
  const step = await nextStep(input);
  const isFirst = callsUnderWay(input.messages, input.turnId).every(isMistake);
  const [call] = step.kind === "calls" ? step.proposals : [];
  if (call === undefined || !isFirst) return step;
  const { finished } = progressOf(input.messages, input.turnId);
  return withForeseen(input, call, input.actions?.slice(finished + 1) ?? [], nextStep);
};

async function nextStep(input: LaneInput): Promise<LaneStep> {
  const state = progressOf(input.messages, input.turnId);
  const { result } = state;
  if (maySplit(input)) {
    const isOne =
      reckonedIn(state.message) !== null ||
      comparisonIn(state.message, offered(input.tools)) !== null ||
      carryingIn(state.message, offered(input.tools)) !== null ||
      directedFor(input, state.message) !== null ||
      callForFile(state.message, offered(input.tools)) !== null ||
      findingIn(state.message) !== null ||
      readingAgain(input, state.message) !== null;
    if (isOne) return { kind: "split", actions: [state.message] };
    const wishes = wishesIn(state.message, offered(input.tools));
    if (wishes.length > 0) return { kind: "split", actions: wishes };
    const isPicked = pickedFrom(state.message) !== null && askedActs(state.message).every(({ act }) => act === "read");
    if (isPicked) return { kind: "split", actions: [state.message] };
    const isAsked = questionsIn(state.message).length > 1 && readingFor(state.message, offered(input.tools)) !== null;
    if (isAsked) return { kind: "split", actions: [state.message] };
    if (hasCue(state.message)) return split(input, state.message);
  }
  if (isOver(input, state)) return { kind: "answer", text: "" };
  if (result !== null && !(isMistake(result) && state.mistakes <= MAX_REPAIRS)) return conclude(input, state);
  if (!input.mayCall) return { kind: "stuck", why: "capped" };
  if (result === null) {
    const first = firstCall(input, state);
    if (typeof first === "string") return answer(input, state, first);
    return first === null ? pick(input, state, []) : propose(input, state, first);
  }
  return pick(input, state, [
    { role: "user", content: correction(neutralise(cut(describeMistake(result), MISTAKE_LENGTH))) },
  ]);
}

/**
 * The call with which a wish begins that shows by its words what has to be read, or looked for; the words where what was shown
 * leaves open what is meant.
 */
function firstCall(input: LaneInput, state: TurnProgress): ProposedCall | string | null {
  const { messages, tools } = input;
  const wish = withDay(askedFor(input, state), input.today);
  const able = offered(tools);
  const begun = carryingIn(wish, able) ?? directedFor(input, wish);
  if (begun !== null) return begun.first;
  const comparison = comparisonIn(wish, able);
  if (comparison !== null) return nextCompared(comparison, [], able);
  const plain = nextPage(wish, messages, able) ?? namesFor(wish, able) ?? plainCall(wish, able);
  const shown = plain ?? readingOfDone(wish, state.closed, able);
  const reading = shown ?? readingAgain(input, wish) ?? callForFile(wish, able) ?? readingFor(wish, able);
  return reckonedIn(wish) ?? reading ?? pickedShown(wish, state.closed, able) ?? lookingFor(wish, able);
}

/** The call that reads the file which was read, or found, before, where a wish is about "it" or about what it says. */
function readingAgain({ messages, tools, turnId }: LaneInput, wish: string): ProposedCall | null {
  const able = offered(tools);
  return pointedReading(wish, messages, able) ?? readAgain(wish, messages, turnId, able);
}

function directedFor({ messages, tools }: LaneInput, wish: string, calls: readonly Message[] = []): Directed | null {
  return directedIn(
    wish,
    messages.filter((each) => !calls.includes(each)),
    offered(tools),
  );
}

/** Ask which actions a message asks for. One, in its own words, wherever the reply leaves a doubt. */
async function split({ chat, listener, signal }: LaneInput, message: string): Promise<LaneStep> {
  const { text } = await collect(
    chat,
    { messages: probePrompt(message), schema: probeSchema(), maxTokens: MAX_STEP_TOKENS, temperature: 0, signal },
    listener,
    "after-object",
  );
  return { kind: "split", actions: readActions(text, message) };
}

/** Whether everything has been said: a page was left between the last words and the end of the turn. */
function isOver(input: LaneInput, { finished, result }: TurnProgress): boolean {
  if (result !== null) return false;
  return finished >= (input.actions?.length ?? 1);
}

/** Whether it is still open, and worth asking, what the message asks for. Without tools there is nothing to take apart. */
function maySplit(input: LaneInput): boolean {
  return input.actions === null && offered(input.tools).length > 0;
}

async function pick(input: LaneInput, state: TurnProgress, closing: readonly ChatMessage[]): Promise<LaneStep> {
  const { messages, turnId, listener } = input;
  const wish = askedFor(input, state);
  const able = saidTools(wish, withoutReader(offered(input.tools)));
  const tools = select(wish, able);
  const prefix = actionPrefix(tools);
  const past = pastOf(input.shown, turnId);
  const present = presentOf(messages, turnId, input.actions ?? [state.message]);
  const limit = roomFor(input, prefix, closing);
  const condensed = await condense(input, [...past, ...present.slice(0, 1)], limit - tokensOf(present.slice(1)));
  if (condensed !== null) return condensed;
  const fitted = fitMessages([...past, ...present], limit);
  if (fitted.dropped > 0) listener.trimmed(fitted.dropped);
  const prompt = [...prefix, ...fitted.messages.filter((each) => each.role !== "tool").map(asChat), ...closing];
  const own = copyableStrings(input.messages, wish);
  const schema = actionSchema(tools, own, own, wish);
  const chosen = await choose(input, prompt, schema, tools.length > 0);
  switch (chosen.kind) {
    case "call": {
      const against = withheldWords(input, wish, chosen.call);
      if (against !== null) return answer(input, state, against);
      if (hasReason(input, state, chosen.call)) return propose(input, state, asAddition(chosen.call, wish, tools));
      const said = await choose(input, prompt, actionSchema([], NOTHING_SAID), false);
      return answer(input, state, withoutCall(input, wish, said.kind === "answer" ? said.text : "", chosen.call));
    }
    case "answer":
      return insteadOf(chosen.text, input, state, prompt, tools);
    case "stuck":
      return chosen;
  }
}

/**
 * The call that an answer stands in the place of, where the wish asks by its words for a tool that somebody brought; else the
 * answer. Of several wishes one that asks for a change and gets no call is said to be not done.
 */
async function insteadOf(
  text: string,
  input: LaneInput,
  state: TurnProgress,
  prompt: readonly ChatMessage[],
  tools: readonly ToolDescriptor[],
): Promise<LaneStep> {
  const wish = askedFor(input, state);
  const isOrder = (input.actions?.length ?? 0) > 1;
  const brought = offered(tools).filter(({ name }) => !Object.hasOwn(words.action.descriptions, name));
  const likely = toolsCalledFor(wish, brought, isOrder);
  const own = copyableStrings(input.messages, wish);
  const ordered = likely.length === 0 ? orderedReading(wish, tools) : null;
  if (ordered !== null) {
    input.listener.discarded();
    return propose(input, state, ordered);
  }
  if (likely.length === 0) return answer(input, state, outOfMemory(input, wish, text) || text);
  input.listener.discarded();
  const chosen = await choose(input, prompt, actionSchema(likely, own, own, wish, false), false);
  if (chosen.kind === "call" && hasReason(input, state, chosen.call)) return propose(input, state, chosen.call);
  const isChange = isOrder && likely.every(({ category }) => category !== "read");
  return answer(input, state, isChange ? nameTheRest([wish]) : text);
}

/** Whether anything in the person's words asks for the call. One of an unknown tool goes to the gateway, which says so. */
function hasReason(input: LaneInput, state: TurnProgress, call: ProposedCall): boolean {
  const { messages, tools } = input;
  const tool = tools.find(({ name }) => name === call.name);
  const hasCalled = messages.some(({ role }) => role === "tool");
  const wish = askedFor(input, state);
  if (tool !== undefined && isOfAnother(call.arguments, tool, wish, input.actions ?? [])) return false;
  // A wish that was made whole names what the message leaves out.
  const message = state.message.includes(wish) ? state.message : `${state.message}\n${wish}`;
  return tool === undefined || isAskedFor(call.arguments, tool, message, hasCalled, wish);
}

/** Tokens for the conversation, beside the beginning that never changes, what closes the prompt, and the reply. */
function roomFor({ model }: LaneInput, prefix: readonly ChatMessage[], closing: readonly ChatMessage[]): number {
  const room = model.contextTokens - MAX_STEP_TOKENS - PROMPT_MARGIN - tokensOfPrompt(prefix) - tokensOfPrompt(closing);
  return Math.max(room, PROMPT_MARGIN);
}

function propose(input: LaneInput, state: TurnProgress, picked: ProposedCall): LaneStep {
  const completed = complete(picked, askedFor(input, state), input);
  const proposal = resolved(completed, input.messages, offered(input.tools));
  if (isRepeat(proposal, state.closed, input.tools)) return { kind: "stuck", why: "repeated" };
  return { kind: "calls", text: "", proposals: [proposal] };
}

function answer(input: LaneInput, state: TurnProgress, text: string): LaneStep {
  const count = input.actions?.length ?? 1;
  // Of several wishes one that gets neither a call nor words is not done, and that is said.
  const said = count > 1 && text.trim() === "" ? nameTheRest([askedFor(input, state)]) : text;
  return { kind: state.finished + 1 >= count ? "answer" : "report", text: said };
}

/** The words of the action under way. */
function askedFor({ actions }: LaneInput, { finished, message }: TurnProgress): string {
  return actions?.[finished] ?? message;
}

/** Say what came of an action, and whether another one follows. */
async function conclude(input: LaneInput, state: TurnProgress): Promise<LaneStep> {
  const [able, made] = [offered(input.tools), callsUnderWay(input.messages, input.turnId)];
  const again = input.mayCall ? lookAgain(made, able) : null;
  if (again !== null) return { kind: "calls", text: "", proposals: [again] };
  const calls = withoutMiss(made);
  const last = calls.at(-1) as ToolMessage;
  const { outcome } = last.result;
  // A person's no, a timeout and a refusal are said in our words: a small model makes a story of them.
  const failed = () =>
    namePlaces(made, able) ?? stoppedAt(directedFor(input, askedFor(input, state), calls), calls, input.messages, able);
  const step =
    outcome === "ok" ? await stepAfter(input, withDay(askedFor(input, state), input.today), calls) : failed();
  if (typeof step !== "string") return { kind: "calls", text: "", proposals: [step] };
  const text = outcome === "ok" ? withPartTold(step, calls, able) : step;
  const rest = input.actions?.slice(state.finished + 1) ?? [];
  // What the person decided leaves the rest as it was asked; what failed may be what the rest stands on.
  const isSettled = outcome === "ok" || outcome === "deniedByUser";
  if (isSettled && rest.length > 0) return { kind: "report", text };
  return { kind: "answer", text: rest.length > 0 ? `${text}\n\n${nameTheRest(rest)}` : text };
}

/** The call that follows those of an action, or the words that it ends with. */
async function stepAfter(
  input: LaneInput,
  wish: string,
  calls: readonly ToolMessage[],
): Promise<ProposedCall | string> {
  const able = offered(input.tools);
  const carrying = carryingIn(wish, able);
  const directed = carrying === null && input.mayCall ? directedFor(input, wish, calls) : null;
  if (directed !== null) {
    const step = nextDirected(directed, calls, input.messages, able);
    const told = [];
    for (const each of step === null ? changesAmong(calls, able) : []) told.push(await answerFrom(input, wish, [each]));
    return step ?? told.join("\n\n");
  }
  const comparison = carrying === null && input.mayCall ? comparisonIn(wish, able) : null;
  if (comparison !== null) return nextCompared(comparison, calls, able);
  if (carrying === null || !input.mayCall) {
    const further = input.mayCall ? (furtherCall(wish, calls, able) ?? restCall(wish, calls, able)) : null;
    return further ?? answerFrom(input, wish, calls);
  }
  if (isCarried(carrying, calls)) {
    const told = [await answerFrom(input, wish, calls), shownValue(carrying, calls)];
    return told.filter((each) => each !== "").join("\n\n");
  }
  const made = withoutLook(carrying, calls, able);
  const look = nextLook(carrying, made, able);
  if (look !== null) return look;
  const answering = readFor(carrying, made, able);
  const own = ownValue(carrying, answering);
  if (own === null && mustBeWorkedOut(carrying))
    return showClosest(copy.notComputed, questionOf(carrying), sourceOf(answering));
  const value = own === null || own === "" ? await valueFrom(input, carrying, answering) : own;
  if (value !== "") return keptCall(carrying, value, wish, calls, able);
  const [source, asked] = [sourceOf(answering), questionOf(carrying)];
  const held = new Set(termsIn(source.text));
  const isNear = termsIn(asked).some((term) => held.has(term));
  return isNear ? showClosest(copy.noAnswer, asked, source) : fill(copy.notFound, () => asked);
}

/** What a file answers: in the model's words where some lines of it bear them out, else the lines about it; empty for none. */
async function valueFrom(input: LaneInput, carrying: Carrying, answering: ToolMessage): Promise<string> {
  const source = sourceOf(answering);
  const question = questionOf(carrying);
  const said = await worded(input, question, answering, () => {});
  const isNone = said === "" || isEcho(said, answering) || repeatsQuestion(said, question);
  const isBorneOut = placeOf(said, question, source.text, source.name) !== null;
  const isWrong = hasWrongNumber(said, question, answering) || isNoAnswer(said, question, answering);
  if (!isNone && isBorneOut && !isWrong) return narrowed(said, question);
  return linesAbout(question, source);
}

/** What an action came to: in our own words where they are surer, else in the model's. */
async function answerFrom(input: LaneInput, wish: string, calls: readonly ToolMessage[]): Promise<string> {
  if (foundNoWord(wish, calls.at(-1) as ToolMessage)) return fromMemory(input, wish, calls);
  const open = leftOpen(wish, calls);
  if (open !== null) return open;
  const answering = withRest(answeringCall(wish, calls, input.tools), calls, input.tools);
  const said = new Set<string>();
  const source = sourceOf(answering);
  const { hasLines, name } = source;
  for (const part of hasLines ? questionsIn(wish) : [wish]) {
    const half = askedOfFile(part, answering, input.tools);
    // What of it is in the file's name says only which file is meant.
    const asked = hasLines && asksForNamed(half, name) ? name : half;
    const own = ownAnswer(answering, asked, input.tools, input.today) ?? showChoices(asked, source);
    said.add(own ?? (await report(input, part, answering, queryThatFound(calls), said.size > 0)));
  }
  return [...said].join("\n\n");
}
