import { isThing } from "./acts.ts";
import { sourceOf } from "./answers.ts";
import { answerFigure, asksForFigure } from "./figures.ts";
import { folderIn, shorterQueries } from "./finding.ts";
import { answeringCall, foundFiles, furtherCall, lookingFor, queryThatFound, searches, textSearch } from "./further.ts";
import type { LaneInput, LaneStep, ProposedCall } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { withDay } from "./papers.ts";
import { offered } from "./respond.ts";
import { isRepeat, type TurnProgress } from "./turn-progress.ts";
import { wordsOf } from "./words.ts";

/*
 * The steps of the chained loop that code can tell by the words, so that no model has to: the look with which a question about the
 * person's own papers begins, where it goes on after a search, and a number that has to be worked out. Left to itself a small model
 * looks for half a sentence, finds nothing and says so.
 */

/** A word that stands nowhere says little; after these the model has its say. */
const MOST_SEARCHES = 3;

/** The next step where code can tell it; null where the model has to. */
export function knownStep(input: LaneInput, state: TurnProgress): LaneStep | null {
  if (state.closed.some(({ result }) => result.outcome !== "ok")) return null;
  const call = lookStep(input, state);
  if (call !== null && !isRepeat(call, state.closed, input.tools))
    return { kind: "calls", text: "", proposals: [call] };
  const figure = figureOf(input, state);
  return figure === null ? null : { kind: "answer", text: figure };
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
