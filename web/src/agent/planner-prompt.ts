import limits from "../../../loop/limits.json" with { type: "json" };
import prompts from "../../../loop/prompts.json" with { type: "json" };
import { type ActionKind, type PlannerTool, shapeOf } from "./actions.ts";
import { cut, fewestLeftOut, tokensOfPrompt } from "./budget.ts";
import { fill } from "./fill.ts";
import { withoutHalves } from "./parse.ts";
import { neutralise } from "./provenance.ts";
import { asEntry, briefSignatureOf, told, toldCall } from "./render.ts";
import type { PlannerMessage } from "./repair.ts";

/*
 * The planner's prompt: its words and their order, around entries as every prompt of the loop shows them. Two messages, as short
 * as they can be. The first says who the model is, which actions there are and which tools; it is the same from step to step.
 * The second holds what was remembered, said and done, and its end is all that changes from step to step.
 */

const WORDS = prompts.planner;
/** Characters of each action, and of each observation but the most recent. */
const MAX_PAST = limits.plannerPastCharacters;
/** The most recent observation is never cut to fewer characters than these. */
const MIN_OBSERVATION = limits.plannerObservationCharacters;

/** What a planner plans from. Everything in sequence comes oldest first. */
export interface AgentContext {
  /** Who the model is to be; the host's own words. */
  readonly agent: { readonly role: string; readonly goal?: string; readonly instructions?: string };
  readonly task: { readonly input: string };
  readonly tools?: readonly PlannerTool[];
  readonly messages?: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  /** Actions of this task, and what came of each. */
  readonly steps?: readonly { readonly action: Readonly<Record<string, unknown>>; readonly observation: string }[];
  readonly memory?: readonly string[];
  readonly compactedSummary?: string;
}

export type PlannerPrompt =
  | {
      readonly kind: "fitting";
      readonly messages: readonly PlannerMessage[];
      /** How many entries were left out. */
      readonly dropped: number;
      /** How many characters of the most recent observation were. */
      readonly leftOut: number;
    }
  /** Even what is always kept does not fit. */
  | { readonly kind: "too-long"; readonly needed: number; readonly allowed: number };

/**
 * The prompt for the next action, with repair turns at its end, in at most so many tokens. Over budget, the oldest goes first:
 * memory, then earlier messages, then the summary of those before them, then steps. The task, the actions and tools, and the
 * most recent observation always stay; that observation is cut when it is too long by itself. Whatever is missing is said to
 * be.
 */
export function plannerPrompt(
  context: AgentContext,
  kinds: readonly ActionKind[],
  closing: readonly PlannerMessage[],
  maxTokens: number,
  countTokens: (text: string) => number,
): PlannerPrompt {
  const system: PlannerMessage = { role: "system", content: systemOf(context, kinds) };
  const made = (dropped: number, length: number) => {
    const transcript: PlannerMessage = { role: "user", content: transcriptOf(context, dropped, length) };
    const messages = [system, transcript, ...closing];
    const tokens = tokensOfPrompt(messages, countTokens);
    return { messages, tokens };
  };
  const { memory = [], messages = [], steps = [], compactedSummary } = context;
  const most = memory.length + messages.length + (compactedSummary ? 1 : 0) + Math.max(0, steps.length - 1);
  const whole = steps.at(-1)?.observation.length ?? 0;
  const cuttable = Math.max(0, whole - MIN_OBSERVATION);
  const dropped = fewestLeftOut(most, (count) => made(count, whole).tokens <= maxTokens);
  const leftOut = fewestLeftOut(cuttable, (count) => made(dropped, whole - count).tokens <= maxTokens);
  const prompt = made(dropped, whole - leftOut);
  if (prompt.tokens > maxTokens) return { kind: "too-long", needed: prompt.tokens, allowed: maxTokens };
  return { kind: "fitting", messages: prompt.messages, dropped, leftOut };
}

function systemOf({ agent, tools = [] }: AgentContext, kinds: readonly ActionKind[]): string {
  const { role, goal } = agent;
  const lines = [fill(WORDS.role, () => role)];
  if (goal) lines.push(fill(WORDS.goal, () => goal));
  if (agent.instructions) lines.push(agent.instructions);
  lines.push(WORDS.actions, ...kinds.map(shapeOf));
  if (kinds.includes("tool_call")) lines.push(WORDS.tools, ...tools.map(lineOf));
  return lines.join("\n");
}

function lineOf({ name, description, inputSchema }: PlannerTool): string {
  return outside(`${briefSignatureOf(name, description, inputSchema)} ${JSON.stringify(inputSchema)}`);
}

/** Everything but the first `dropped` entries, and so much of the most recent observation. */
function transcriptOf(context: AgentContext, dropped: number, length: number): string {
  const { memory = [], messages = [], steps = [], task, compactedSummary } = context;
  const pastMemory = Math.max(0, dropped - memory.length);
  const pastMessages = Math.max(0, pastMemory - messages.length);
  const stepsOut = Math.max(0, pastMessages - (compactedSummary ? 1 : 0));
  const remembered = memory.slice(dropped);
  const said = messages.slice(pastMemory);
  const lines: string[] = [];
  if (remembered.length > 0) lines.push(WORDS.memory, ...remembered.map((each) => `- ${outside(each)}`));
  if (compactedSummary && pastMessages === 0) lines.push(fill(WORDS.summary, () => outside(compactedSummary)));
  if (said.length > 0) lines.push(WORDS.messages, ...said.map(saidBy));
  if (dropped > stepsOut) lines.push(fill(WORDS.leftOut, () => String(dropped - stepsOut)));
  lines.push(fill(WORDS.task, () => neutralise(withoutHalves(task.input))));
  if (steps.length > 0) lines.push(WORDS.steps);
  if (stepsOut > 0) lines.push(fill(WORDS.stepsLeftOut, () => String(stepsOut)));
  for (const [place, { action, observation }] of [...steps.entries()].slice(stepsOut)) {
    const shown = outside(cut(observation, place === steps.length - 1 ? length : MAX_PAST));
    lines.push(`${place + 1}. ${outside(cut(done(action), MAX_PAST))} -> ${shown}`);
  }
  lines.push(WORDS.next);
  return lines.join("\n");
}

function saidBy({ role, content }: { readonly role: string; readonly content: string }): string {
  const turnId = "";
  if (role === "assistant") return outside(told({ role, turnId, content, toolCalls: [] }));
  return outside(told({ role: "user", turnId, content }));
}

/** What was done, as a call: an action that is none by its kind and members. */
function done(action: Readonly<Record<string, unknown>>): string {
  const { id: _id, type, createdAt: _createdAt, ...fields } = action;
  const [name = null, given = null] = type === "tool_call" ? [action.toolName, action.arguments] : [type, fields];
  return toldCall(typeof name === "string" ? name : JSON.stringify(name), given);
}

/** An entry from a host that may hand over anything, where the lanes' messages came over the wire. */
function outside(text: string): string {
  return asEntry(withoutHalves(text).replace(/\r\n?/g, "\n"));
}
