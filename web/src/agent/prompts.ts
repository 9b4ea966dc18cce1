import mistakes from "../../../loop/mistakes.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import type { ChatMessage } from "./chat.ts";
import { type Shot, withExamples } from "./examples.ts";
import type { ToolMessage } from "./messages.ts";
import { describeObservation, neutralise } from "./provenance.ts";
import { asksAboutContent } from "./questions.ts";
import { fill, signatureOf } from "./render.ts";

/*
 * The prompts of small models. Their words stand in prompts.json and decide how often a call is right, so they change only
 * together with a measurement. What comes before the conversation depends on nothing but the tools: byte for byte the same
 * from turn to turn, so that the model server has it in its cache.
 */

const SHOTS: readonly Shot[] = words.action.shots;
const MORE_SHOTS: readonly Shot[] = words.action.more.shots;
const DESCRIPTIONS: Readonly<Record<string, string>> = words.action.descriptions;
const FIXED: Readonly<Record<string, string>> = words.report.fixed;

/**
 * Everything before the conversation in the prompt that picks an action: tools, and examples of those that are here. With
 * `more` the model is shown how to say that further actions follow.
 */
export function actionPrefix(tools: readonly ToolDescriptor[], more = false): ChatMessage[] {
  const names = new Set(tools.map((tool) => tool.name));
  const { opening, closing } = words.action;
  const fitting = ({ reply }: Shot) => reply.tool === undefined || names.has(reply.tool);
  const shown = withExamples(SHOTS.filter(fitting), tools);
  const shots = more ? [...shown.map(sayNoMore), ...MORE_SHOTS.filter(fitting)] : shown;
  return [
    {
      role: "system",
      content: [opening, ...tools.map(lineOf), closing, ...(more ? [words.action.more.closing] : [])].join("\n"),
    },
    ...shots.flatMap(({ user, reply }): ChatMessage[] => [
      { role: "user", content: user },
      { role: "assistant", content: JSON.stringify(reply) },
    ]),
  ];
}

function sayNoMore({ user, reply }: Shot): Shot {
  return { user, reply: reply.tool === undefined ? reply : { ...reply, more: false } };
}

/** The prompt that words a result. No tool can be called from here, whatever the result says. */
export function reportPrompt(question: string, { call, result }: ToolMessage, body: string): ChatMessage[] {
  const { system, shots } = words.report;
  const asked = { question: neutralise(question), tool: call.name, outcome: result.outcome };
  return [
    { role: "system", content: system },
    ...shots.flatMap((shot): ChatMessage[] => [
      { role: "user", content: frame(shot) },
      { role: "assistant", content: shot.reply },
    ]),
    { role: "user", content: frame({ ...asked, result: neutralise(body) }) },
  ];
}

/**
 * A sentence that is always true of a finished call, for tools whose results a small model words wrongly: their card shows
 * the result itself. Null where the model's words are better, and where the wish asks for something out of the result.
 */
export function fixedReport({ call, result }: ToolMessage, wish: string): string | null {
  const sentence = Object.hasOwn(FIXED, call.name) ? FIXED[call.name] : undefined;
  if (sentence === undefined || result.outcome !== "ok") return null;
  if (words.report.answering.includes(call.name) && asksAboutContent(wish)) return null;
  return fill(sentence, (name) => inline(call.arguments[name]));
}

/** What a model is told about a call that it got wrong. */
export function describeMistake({ call, result }: ToolMessage): string {
  return fill(mistakes.notAccepted, (name) => (name === "tool" ? call.name : describeObservation(result)));
}

function lineOf({ name, description, paramSchema }: ToolDescriptor): string {
  const described = Object.hasOwn(DESCRIPTIONS, name) ? DESCRIPTIONS[name] : undefined;
  return signatureOf(name, described ?? description, paramSchema);
}

function frame(values: Readonly<Record<string, string>>): string {
  return fill(words.report.frame, (name) => values[name]);
}

/** An argument as it stands in a sentence between backticks. */
function inline(value: unknown): string {
  return (typeof value === "string" ? value : JSON.stringify(value ?? "")).replaceAll(/[`\s]+/g, " ").trim();
}
