import { isThing } from "./acts.ts";
import { ownAnswer, sourceOf } from "./answers.ts";
import { carryingIn } from "./carrying.ts";
import { answerFigure, asksForFigure } from "./figures.ts";
import { folderIn, shorterQueries } from "./finding.ts";
import { answeringCall, foundFiles, furtherCall, lookingFor, queryThatFound, searches, textSearch } from "./further.ts";
import { complete, type LaneInput, type LaneStep, type ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { withDay } from "./papers.ts";
import { plainCall } from "./plain-calls.ts";
import { readingFor } from "./reading.ts";
import { offered } from "./respond.ts";
import { isRepeat, type TurnProgress } from "./turn-progress.ts";
import { wishesIn } from "./wishes.ts";
import { wordsOf } from "./words.ts";

/*
 * The steps of the chained loop that code can tell by the words, so that no model has to: what several plain wishes ask for, the look
 * with which a question about the person's own papers begins, and where it goes on after a search. Left to itself a small model looks
 * for half a sentence, finds nothing and says so, or calls whatever takes no argument.
 */

/** A word that stands nowhere says little; after these the model has its say. */
const MOST_SEARCHES = 3;

/** The next step where code can tell it; null where the model has to. */
export function knownStep(input: LaneInput, state: TurnProgress): LaneStep | null {
  if (state.closed.some(({ result }) => result.outcome !== "ok")) return null;
  const wishes = wishesIn(state.message, offered(input.tools));
  const wished = wishes.length > 0 ? wishStep(input, state, wishes) : null;
  const step = wished ?? lookStep(input, state) ?? figureOf(input, state);
  if (step === null) return null;
  if (typeof step === "string") return { kind: "answer", text: step };
  return isRepeat(step, state.closed, input.tools) ? null : { kind: "calls", text: "", proposals: [step] };
}

/** Of several wishes the call of the first one that is open, where its words say it; at the end what came of them. */
function wishStep(input: LaneInput, { closed }: TurnProgress, wishes: readonly string[]): ProposedCall | string | null {
  for (const [place, wish] of wishes.entries()) {
    const call = saidCall(input, wish);
    if (call === null && closed.length <= place) return null;
    if (call !== null && !closed.some((each) => isMade(call, each))) return call;
  }
  if (closed.length !== wishes.length) return null;
  const told = closed.map((each, place) => ownAnswer(each, wishes[place] as string, input.tools, input.today));
  return told.every((each) => each !== null && each !== "") ? told.join("\n\n") : null;
}

/** The call that one of several wishes says in plain words. One that stands on an outcome says only a half of it. */
function saidCall(input: LaneInput, wish: string): ProposedCall | null {
  const tools = offered(input.tools);
  if (carryingIn(wish, tools) !== null) return null;
  const said = plainCall(wish, tools) ?? readingFor(wish, tools);
  return said === null ? null : complete(said, wish, input);
}

/** Whether it is the same call, as `isRepeat` compares them. */
function isMade(call: ProposedCall, closed: ToolMessage): boolean {
  return isRepeat(call, [closed], []);
}

/** The look of a question that says no file; after it what is to be read, or looked for instead. */
function lookStep(input: LaneInput, { message, closed }: TurnProgress): ProposedCall | null {
  const tools = offered(input.tools);
  const wish = withDay(message, input.today);
  if (wordsOf(wish).some(({ start, end }) => isThing(wish.slice(start, end)))) return null;
  if (closed.length === 0) return lookingFor(wish, tools);
  return furtherCall(wish, closed, tools) ?? searchAgain(wish, closed, tools);
}

/** The number that has to be worked out of what was read, where it is clear which ones are meant: no model counts or adds. */
function figureOf({ tools }: LaneInput, { message, closed }: TurnProgress): string | null {
  if (closed.length === 0 || !asksForFigure(message)) return null;
  return answerFigure(message, sourceOf(answeringCall(message, closed, offered(tools))));
}

/** The search for a part of what was looked for where nothing holds all of it, then for a word of the wish. */
function searchAgain(wish: string, closed: readonly ToolMessage[], tools: LaneInput["tools"]): ProposedCall | null {
  const last = closed.at(-1) as ToolMessage;
  if (!closed.every(searches) || closed.length >= MOST_SEARCHES || foundFiles(last, tools).length > 0) return null;
  const query = queryThatFound(closed.slice(0, 1));
  const tried = closed.map((each) => queryThatFound([each]).toLowerCase());
  const words = [...shorterQueries(query), ...shorterQueries(wish)];
  const next = words.find((each) => !tried.includes(each.toLowerCase()));
  if (query === "" || next === undefined) return null;
  const folder = folderIn(wish);
  return textSearch(
    next,
    { query: next, folder, asked: wish, others: [], own: false, apart: false, one: false },
    tools,
  );
}
