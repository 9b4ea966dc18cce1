import { ownAnswer, showClosest, sourceOf } from "./answers.ts";
import {
  type Carrying,
  carryingIn,
  isCarried,
  linesAbout,
  mustBeWorkedOut,
  namedIn,
  nextLook,
  ownValue,
  questionOf,
  readFor,
  shownValue,
} from "./carrying.ts";
import { copy } from "./copy.ts";
import { directedIn, nextDirected } from "./directed.ts";
import { keptCall, withoutLook } from "./keeping.ts";
import type { LaneInput, LaneStep, ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { offered } from "./respond.ts";
import { changesAmong } from "./taking.ts";
import { isRepeat, type TurnProgress } from "./turn-progress.ts";

/*
 * What a lane does by itself for a wish that stands on an outcome, in which the model chooses its calls: the half that the words ask
 * for and that no model has to choose, because code can tell all of it.
 */

/**
 * What is found goes into the call that the wish asks for, where code can tell all of it: a path that only a search gave is no choice
 * of a model. Where words have to be found, or something failed, the model goes on.
 */
export function carryOn(input: LaneInput, state: TurnProgress): LaneStep | null {
  const carrying = carryingIn(state.message, offered(input.tools));
  if (carrying === null) return null;
  if (isOpen(carrying, state.closed)) return stepOf(input, state, carrying, state.closed);
  const done = state.closed.filter(({ call }) => call.name === carrying.tool || call.name === carrying.adder?.tool);
  return done.length > 0 ? told(input, state, done, shownValue(carrying, state.closed)) : null;
}

/**
 * A change for which code has to look first, because the words tell all but one thing of its call. Where something failed the model
 * goes on.
 */
export function directOn(input: LaneInput, state: TurnProgress): LaneStep | null {
  const { message, closed } = state;
  const tools = offered(input.tools);
  const before = input.messages.filter((each) => each.role !== "tool" || !closed.includes(each));
  const directed = directedIn(message, before, tools);
  if (directed === null || closed.some(({ result }) => result.outcome !== "ok")) return null;
  const step = closed.length > 0 ? nextDirected(directed, closed, input.messages, tools) : directed.first;
  if (typeof step === "string") return { kind: "answer", text: step };
  return step === null ? told(input, state, changesAmong(closed, tools), "") : toCall(step);
}

/**
 * The end of such a wish in our own words: asked for its own, a small model tells of more than was done. Null where they do not know
 * the tool, or a call failed.
 */
function told(
  { tools, today }: LaneInput,
  { message, closed }: TurnProgress,
  done: readonly ToolMessage[],
  shown: string,
): LaneStep | null {
  if (closed.some(({ result }) => result.outcome !== "ok")) return null;
  const said = done.map((each) => ownAnswer(each, message, tools, today));
  if (said.includes(null)) return null;
  return { kind: "answer", text: [...said, shown].filter((each) => each !== "").join("\n\n") };
}

/**
 * The same for a model that chose all calls of the turn itself and then answered without the half that the words ask for: its own
 * look is taken where it is the one that the words ask for, else that is made now. What needs words is taken from the lines that come
 * closest.
 */
export function carryDropped(input: LaneInput, state: TurnProgress): LaneStep | null {
  const { message, closed } = state;
  const tools = offered(input.tools);
  const carrying = carryingIn(message, tools);
  if (carrying === null || closed.length === 0 || !isOpen(carrying, closed)) return null;
  const first = closed.findIndex(({ call }) => isCall(call, carrying.first));
  if (first < 0) return toCall(carrying.first);
  // Of a file that is named, its own read; of others what followed the look.
  const isNamed = carrying.finding === null && carrying.pick === null && namedIn(carrying).length === 0;
  const made = closed.slice(first, isNamed ? first + 1 : undefined);
  const step = stepOf(input, state, carrying, made);
  if (step !== null) return step;
  const source = sourceOf(readFor(carrying, made, tools));
  const about = source.hasLines ? linesAbout(questionOf(carrying), source) : "";
  return about === "" ? null : toCall(keptCall(carrying, about, message, closed, tools));
}

function isOpen(carrying: Carrying, closed: readonly ToolMessage[]): boolean {
  return !isCarried(carrying, closed) && closed.every(({ result }) => result.outcome === "ok");
}

function isCall(call: ProposedCall, other: ProposedCall): boolean {
  const [given, wanted] = [call.arguments, other.arguments];
  const isSame = Object.keys(given).length === Object.keys(wanted).length;
  return call.name === other.name && isSame && Object.keys(wanted).every((name) => given[name] === wanted[name]);
}

function toCall(call: ProposedCall): LaneStep {
  return { kind: "calls", text: "", proposals: [call] };
}

function stepOf(
  input: LaneInput,
  state: TurnProgress,
  carrying: Carrying,
  made: readonly ToolMessage[],
): LaneStep | null {
  const tools = offered(input.tools);
  const calls = withoutLook(carrying, made, tools);
  let look = calls.length > 0 ? nextLook(carrying, calls, tools) : carrying.first;
  if (typeof look === "string") return { kind: "answer", text: look };
  if (look === null) {
    const answering = readFor(carrying, calls, tools);
    const value = ownValue(carrying, answering);
    if (value === null && mustBeWorkedOut(carrying))
      return { kind: "answer", text: showClosest(copy.notComputed, questionOf(carrying), sourceOf(answering)) };
    look = value === null ? null : keptCall(carrying, value, state.message, state.closed, tools);
  }
  return look === null || isRepeat(look, made, input.tools) ? null : toCall(look);
}
