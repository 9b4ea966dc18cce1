import limits from "../../../loop/limits.json" with { type: "json" };
import { hasWrongNumber, isEcho, isUnfounded, missedQuote, showClosest, sourceOf, withPlace } from "./answers.ts";
import { tokensOfPrompt } from "./budget.ts";
import { MAX_STEP_TOKENS } from "./choosing.ts";
import { copy } from "./copy.ts";
import { pageOf } from "./kept.ts";
import { collect, type LaneInput } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { misreadsRow } from "./misreading.ts";
import { fittingPassages, repeatsQuestion } from "./passages.ts";
import { reportPrompt } from "./prompts.ts";

/* A result in the words of a small model, as far as the result bears them out. */

export const PROMPT_MARGIN = limits.jsonLaneMargin;
/** Fewer than the usual four: results are paths, figures and code, which take more tokens than prose. */
const CHARACTERS_PER_TOKEN = limits.charactersPerDenseToken;

/**
 * Characters of a result that fit into so many tokens. Each digit and each mark may be a token by itself, as in a table or in a log
 * full of times.
 */
function charactersIn(room: number, content: string): number {
  const digits = content.match(/[0-9.,:;/_-]/g)?.length ?? 0;
  const weighed = content.length + (CHARACTERS_PER_TOKEN - 1) * digits;
  return Math.floor((room * CHARACTERS_PER_TOKEN * content.length) / Math.max(1, weighed));
}

/** What the model says of a result. */
export async function worded(
  { chat, listener, model, signal }: LaneInput,
  question: string,
  last: ToolMessage,
  hear: (soFar: string) => void,
): Promise<string> {
  const bare = tokensOfPrompt(reportPrompt(question, last, ""));
  const room = Math.max(0, model.contextTokens - MAX_STEP_TOKENS - PROMPT_MARGIN - bare);
  const content = pageOf(last.result.content).text;
  const body = fittingPassages(content, question, charactersIn(room, content));
  if (body !== content) listener.trimmed(0);
  const messages = reportPrompt(question, last, body);
  const request = { messages, maxTokens: MAX_STEP_TOKENS, temperature: 0, signal };
  return (await collect(chat, request, listener, "stream", hear)).text.trim();
}

/**
 * The same as an answer: with its place where the result bears it out, else the lines that come closest. What the model says is
 * streamed as it comes.
 */
export async function report(
  input: LaneInput,
  question: string,
  last: ToolMessage,
  query: string,
  isFurther: boolean,
): Promise<string> {
  const { listener } = input;
  let shown = 0;
  const said = await worded(input, question, last, (soFar) => {
    if (soFar.length > shown) listener.streamed(soFar.slice(shown));
    shown = soFar.length;
  });
  if (said === "") return copy.worded;
  const isOther = isUnfounded(said, question, last, isFurther) || misreadsRow(said, question, sourceOf(last));
  const isNone = isEcho(said, last) || repeatsQuestion(said, question) || isOther;
  const instead = isNone
    ? showClosest(copy.noAnswer, question, sourceOf(last))
    : hasWrongNumber(said, question, last)
      ? showClosest(copy.notSure, question, sourceOf(last))
      : missedQuote(said, question, last, query);
  if (instead === null) return withPlace(said, question, last);
  listener.discarded();
  return instead;
}
