import limits from "../../../loop/limits.json" with { type: "json" };
import mistakes from "../../../loop/mistakes.json" with { type: "json" };
import words from "../../../loop/prompts.json" with { type: "json" };
import type { ToolDescriptor } from "../protocol/generated.ts";
import { beginning } from "./budget.ts";
import type { ChatMessage } from "./chat.ts";
import { type Shot, withExamples } from "./examples.ts";
import { fill } from "./fill.ts";
import type { ToolMessage } from "./messages.ts";
import { describeObservation, neutralise } from "./provenance.ts";
import { asksAboutContent } from "./questions.ts";
import { firstSentence, signatureOf } from "./render.ts";

/*
 * The prompts of small models. Their words stand in prompts.json and decide how often a call is right, so they change only
 * together with a measurement. What comes before the conversation depends on nothing but the tools: byte for byte the same
 * from turn to turn, so that the model server has it in its cache.
 */

const SHOTS: readonly Shot[] = words.action.shots;
const DESCRIPTIONS: Readonly<Record<string, string>> = words.action.descriptions;
const FIXED: Readonly<Record<string, string>> = words.report.fixed;

/** Everything before the conversation in the prompt that picks an action: tools, and examples of those that are here. */
export function actionPrefix(tools: readonly ToolDescriptor[]): ChatMessage[] {
  const { opening, closing } = words.action;
  return [{ role: "system", content: systemText(opening, closing, tools) }, ...shotsOf(tools)];
}

/** The tools, a line each, between these words. */
export function systemText(opening: string, closing: string, tools: readonly ToolDescriptor[]): string {
  return [opening, ...tools.map(lineOf), closing].join("\n");
}

/** What these tools do, for a person to read: the beginning of each one's description, as one sentence's end. */
export function abilitiesOf(tools: readonly ToolDescriptor[]): string {
  const spoken = tools.slice(0, limits.abilitiesTold).flatMap((tool) => {
    const told = beginning(firstSentence(describedAs(tool)).replace(/\.$/, ""), limits.abilityCharacters);
    return told === "" ? [] : [`${told.slice(0, 1).toLowerCase()}${told.slice(1)}`];
  });
  const last = spoken.pop() ?? "";
  return spoken.length > 0 ? `${spoken.join(", ")} and ${last}` : last;
}

/** The examples of one action each, as messages. */
export function shotsOf(tools: readonly ToolDescriptor[]): ChatMessage[] {
  const names = new Set(tools.map((tool) => tool.name));
  const fitting = SHOTS.filter(({ reply }) => reply.tool === undefined || names.has(reply.tool));
  return withExamples(fitting, tools).flatMap(({ user, reply }): ChatMessage[] => [
    { role: "user", content: user },
    { role: "assistant", content: JSON.stringify(reply) },
  ]);
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

function lineOf(tool: ToolDescriptor): string {
  return signatureOf(tool.name, describedAs(tool), tool.paramSchema);
}

function describedAs({ name, description }: ToolDescriptor): string {
  return (Object.hasOwn(DESCRIPTIONS, name) ? DESCRIPTIONS[name] : undefined) ?? description;
}

function frame(values: Readonly<Record<string, string>>): string {
  return fill(words.report.frame, (name) => values[name]);
}

/** An argument as it stands in a sentence between backticks. */
function inline(value: unknown): string {
  return (typeof value === "string" ? value : JSON.stringify(value ?? "")).replaceAll(/[`\s]+/g, " ").trim();
}
