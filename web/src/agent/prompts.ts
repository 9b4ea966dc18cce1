import type { ToolDescriptor } from "../protocol/generated.ts";
import type { ChatMessage } from "./chat.ts";
import { firstSentence, requiredOf, type Shot, withExamples } from "./examples.ts";
import type { ToolMessage } from "./messages.ts";
import words from "./prompts.json" with { type: "json" };
import { describeObservation, neutralise } from "./provenance.ts";

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
      content: [opening, ...tools.map(signatureOf), closing, ...(more ? [words.action.more.closing] : [])].join("\n"),
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
  return [
    { role: "system", content: system },
    ...shots.flatMap((shot): ChatMessage[] => [
      { role: "user", content: frame(shot.question, shot.tool, shot.outcome, shot.result) },
      { role: "assistant", content: shot.reply },
    ]),
    { role: "user", content: frame(neutralise(question), call.name, result.outcome, neutralise(body)) },
  ];
}

/**
 * A sentence that is always true of a finished call, for tools whose results a small model words wrongly: their card shows
 * the result itself. Null where the model's words are better.
 */
export function fixedReport({ call, result }: ToolMessage): string | null {
  const sentence = Object.hasOwn(FIXED, call.name) ? FIXED[call.name] : undefined;
  if (sentence === undefined || result.outcome !== "ok") return null;
  return sentence.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => inline(call.arguments[name]));
}

/** What a model is told about a call that it got wrong. */
export function describeMistake({ call, result }: ToolMessage): string {
  return `${call.name} was not accepted, ${describeObservation(result)}`;
}

/** `write_file(path, content) - Write text to a file.`: needed arguments only, and a short description. */
function signatureOf(tool: ToolDescriptor): string {
  const described = Object.hasOwn(DESCRIPTIONS, tool.name) ? DESCRIPTIONS[tool.name] : undefined;
  return `${tool.name}(${requiredOf(tool.paramSchema).join(", ")}) - ${described ?? firstSentence(tool.description)}`;
}

function frame(question: string, tool: string, outcome: string, result: string): string {
  return `QUESTION: ${question}\nTOOL: ${tool}\nOUTCOME: ${outcome}\nRESULT:\n${result}`;
}

/** An argument as it stands in a sentence between backticks. */
function inline(value: unknown): string {
  return (typeof value === "string" ? value : JSON.stringify(value ?? "")).replaceAll(/[`\s]+/g, " ").trim();
}
