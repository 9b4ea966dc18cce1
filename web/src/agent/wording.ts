import limits from "../../../loop/limits.json" with { type: "json" };
import { hasWrongNumber, isEcho, isUnfounded, missedQuote, showClosest, sourceOf, withPlace } from "./answers.ts";
import { unsupportedIn } from "./borne-out.ts";
import { tokensOfPrompt } from "./budget.ts";
import { MAX_STEP_TOKENS } from "./choosing.ts";
import { goesRound, withoutCircles } from "./circles.ts";
import { copy } from "./copy.ts";
import { excerptOf } from "./excerpts.ts";
import type { ResultSource } from "./figures.ts";
import { isMadeUp, narrowed, summaryOf } from "./grounded.ts";
import { pageOf } from "./kept.ts";
import { collect, type LaneInput } from "./lane.ts";
import type { ToolMessage } from "./messages.ts";
import { misreadsRow } from "./misreading.ts";
import { fittingPassages, repeatsQuestion } from "./passages.ts";
import { isBesideQuestion } from "./pertinent.ts";
import { fixedReport, reportPrompt } from "./prompts.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/* A result in the words of a small model, as far as the result bears them out. */

export const PROMPT_MARGIN = limits.jsonLaneMargin;
/** Fewer than the usual four: results are paths, figures and code, which take more tokens than prose. */
const CHARACTERS_PER_TOKEN = limits.charactersPerDenseToken;

const EXPLAINING: ReadonlySet<string> = new Set(vocabulary.explainingVerbs);

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
  const { text } = await collect(chat, request, listener, "stream", hear);
  return withoutCircles(text.trim());
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
  const { listener, quotes = false } = input;
  const source = sourceOf(last);
  if (quotes && source.hasLines) return quoted(question, last, source);
  let written = "";
  const said = await worded(input, question, last, (soFar) => {
    if (soFar.length > written.length) listener.streamed(soFar.slice(written.length));
    written = soFar;
  });
  if (said === "") return copy.worded;
  const isEmpty = isEcho(said, last) || repeatsQuestion(said, question);
  const isWrong = !isEmpty && hasWrongNumber(said, question, last);
  const isNone = isEmpty || isNoAnswer(said, question, last) || isUnfounded(said, question, last, isFurther);
  const instead =
    summaryOf(said, question, source) ??
    (isWrong
      ? showClosest(copy.notSure, question, source)
      : isNone
        ? showClosest(copy.noAnswer, question, source)
        : missedQuote(said, question, last, query));
  const kept = narrowed(said, question);
  if (instead !== null || kept !== said) listener.discarded();
  if (instead !== null) return instead;
  const told = withPlace(kept, question, last);
  return goesRound(written.trim()) ? `${told}\n\n${copy.saidAgain}` : told;
}

/**
 * Whether what a model says of a result cannot stand: it is of another row or another matter, made up, or has names and numbers that
 * nobody wrote.
 */
export function isNoAnswer(said: string, question: string, last: ToolMessage): boolean {
  const source = sourceOf(last);
  const isOfAnother = misreadsRow(said, question, source) || isBesideQuestion(said, question, source);
  if (isOfAnother || isMadeUp(said, question, source)) return true;
  const isWorded = wordsOf(question).some(({ bare }) => EXPLAINING.has(bare));
  return !isWorded && unsupportedIn(said, [question, source.name, source.text]).length > 0;
}

/** What a file says of a question, word by word: all of it where the question is about the whole, else the lines that come closest. */
function quoted(question: string, last: ToolMessage, source: ResultSource): string {
  const isWhole = wordsOf(question).some(({ bare }) => EXPLAINING.has(bare));
  const sentence = isWhole ? fixedReport(last, "") : null;
  if (sentence === null) return showClosest(copy.closest, question, source);
  return `${sentence}\n\n${excerptOf(source.text).text}`;
}
