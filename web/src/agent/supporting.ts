import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { showClosest, sourceOf } from "./answers.ts";
import { unsupportedIn } from "./borne-out.ts";
import type { ChatMessage } from "./chat.ts";
import { copy, explainOutcome } from "./copy.ts";
import { fill } from "./fill.ts";
import type { Message, ToolMessage } from "./messages.ts";
import { valuesElsewhere } from "./placed-values.ts";
import { describeObservation, neutralise } from "./provenance.ts";
import { termsIn } from "./ranking.ts";

/* What an answer of the chained loop has to stand on, what a model hears of one that does not, and what is shown in its place. */

/** What a model is told of at once. */
const MOST_NAMED = 5;

/**
 * The texts that an answer may take from: what the person said, what was called and what it came to, and the tools' names. Not what
 * a model said before.
 */
export function sourcesOf(messages: readonly Message[], tools: readonly Pick<ToolDescriptor, "name">[]): string[] {
  const said = messages.flatMap((each) => {
    if (each.role === "assistant") return [];
    if (each.role === "user") return [each.content];
    const given = Object.values(each.call.arguments).map((value) =>
      typeof value === "string" ? value : JSON.stringify(value),
    );
    return [...given, describeObservation(each.result)];
  });
  return [...said, ...tools.map(({ name }) => name)];
}

/** What is wrong with an answer: `says` of it stand nowhere, or only of something else. */
export interface AnswerFault {
  /** The name of the sentence in prompts.json with which a model is told. */
  readonly name: "unsupported" | "elsewhere";
  readonly says: readonly string[];
}

/**
 * What an answer says that neither a result, the person nor a call does, or the results of something else alone. Where nothing was
 * called it may be of the world.
 */
export function faultOf(
  answer: string,
  question: string,
  messages: readonly Message[],
  closed: readonly ToolMessage[],
  tools: readonly Pick<ToolDescriptor, "name">[],
): AnswerFault | null {
  if (closed.length === 0) return null;
  const missing = unsupportedIn(answer, sourcesOf(messages, tools));
  if (missing.length > 0) return { name: "unsupported", says: missing };
  const elsewhere = valuesElsewhere(answer, question, closed);
  return elsewhere.length > 0 ? { name: "elsewhere", says: elsewhere } : null;
}

/** The answer as the model gave it, and what is wrong with it. */
export function correctionOf(answer: string, { name, says }: AnswerFault): ChatMessage[] {
  const what = says.slice(0, MOST_NAMED).map(neutralise).join(", ");
  const told = fill(words.chained[name], () => what);
  return [
    { role: "assistant", content: JSON.stringify({ answer: neutralise(answer) }) },
    { role: "user", content: told },
  ];
}

/**
 * The lines of a result that come closest to a question, with their place: of what was read where something was, of the result that
 * has most of the question's words. Where no call went well, why the last one did not.
 */
export function passageOf(question: string, closed: readonly ToolMessage[]): string {
  const done = closed.filter(({ result }) => result.outcome === "ok");
  const last = closed.at(-1) as ToolMessage;
  if (done.length === 0) return explainOutcome(last.call.name, last.result);
  const asked = new Set(termsIn(question));
  const read = done.filter((each) => sourceOf(each).hasLines);
  const held = ({ result }: ToolMessage) => new Set(termsIn(result.content).filter((term) => asked.has(term))).size;
  const [first, ...rest] = (read.length > 0 ? read : done).toReversed();
  const best = rest.reduce((now, each) => (held(each) > held(now) ? each : now), first as ToolMessage);
  return showClosest(copy.noAnswer, question, sourceOf(best));
}
