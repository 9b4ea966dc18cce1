import limits from "../../../loop/limits.json" with { type: "json" };
import { type Action, type ActionKind, DEFAULT_ACTIONS, isActionKind, plannerSchema, readAction } from "./actions.ts";
import { estimateTokens } from "./budget.ts";
import { ParseFailure, readReply } from "./parse.ts";
import { type AgentContext, plannerPrompt } from "./planner-prompt.ts";
import { MAX_REPAIRS, type PlannerMessage, pursue, type TextGenerator } from "./repair.ts";

/*
 * A planner for small models on the device: everything that makes them reliable stays inside it. Whoever runs an agent sees a
 * planner: one context in, one action out, or one error. Rendering, tolerant reading, repairs and trimming are this planner's
 * own affair; other planners, and models behind them, know nothing of it. It brings no model along: a function that generates
 * text is all that it needs.
 */

/** There is no action: after so many attempts (0: the model was never asked), for the last `reason`. */
export class OnDevicePlannerError extends Error {
  override readonly name = "OnDevicePlannerError";
  readonly code = "planner_gave_up";
  readonly attempts: number;
  readonly reason: string;

  constructor(attempts: number, reason: string) {
    super(`no valid action after ${attempts} attempts: ${reason}`);
    this.attempts = attempts;
    this.reason = reason;
  }
}

export type PlannerChunk =
  /** A piece of the model's thinking. */
  | { readonly type: "reasoning"; readonly delta: string }
  /** A piece of what the model writes, as it writes it: JSON, if all is well. Never an answer to show. */
  | { readonly type: "text"; readonly delta: string }
  /** The prompt was too long: so many entries are left out of it, and so many characters of the last observation. */
  | { readonly type: "trimmed"; readonly dropped: number; readonly leftOut: number }
  /** What was written until now is void; the model was told the reason and writes anew. */
  | { readonly type: "repair"; readonly attempt: number; readonly reason: string }
  /** The decision; always last. */
  | { readonly type: "action"; readonly action: Action };

export interface StreamOptions {
  readonly signal?: AbortSignal;
}

export interface PlanOptions extends StreamOptions {
  onChunk?(chunk: PlannerChunk): void;
}

/** The seam that every planner fits, for small models and large ones. */
export interface Planner {
  /** The next action; rejects with the planner's one error. */
  plan(context: AgentContext, options?: PlanOptions): Promise<Action>;
  /** The same, told while it comes about. */
  planStream?(context: AgentContext, options?: StreamOptions): AsyncIterable<PlannerChunk>;
}

export interface OnDevicePlannerOptions {
  readonly generate: TextGenerator;
  /** The vocabulary. */
  readonly actions?: readonly ActionKind[];
  /** How often a bad reply is answered with a correction. */
  readonly maxRepairAttempts?: number;
  /** What a prompt may take, by `countTokens`. */
  readonly maxPromptTokens?: number;
  countTokens?(text: string): number;
  /** Epoch milliseconds, for actions that come without a time. Without it they stay so. */
  clock?(): number;
  /** For actions that come without an id; a running number by default. */
  idGenerator?(): string;
}

export class OnDevicePlanner implements Planner {
  readonly #options: Required<Omit<OnDevicePlannerOptions, "clock" | "idGenerator">>;
  readonly #stamps: { newId(): string; now(): string | null };

  /** Throws RangeError for a vocabulary that is empty or has an unknown word, and for numbers below nothing. */
  constructor(options: OnDevicePlannerOptions) {
    const { generate, actions = DEFAULT_ACTIONS, countTokens = estimateTokens, clock, idGenerator } = options;
    const { maxRepairAttempts = MAX_REPAIRS, maxPromptTokens = limits.plannerPromptTokens } = options;
    if (actions.length === 0 || !actions.every(isActionKind) || !(maxRepairAttempts >= 0) || !(maxPromptTokens >= 1))
      throw new RangeError("a planner needs known actions, repairs of 0 or more, and room for a prompt");
    this.#options = { generate, actions: [...new Set(actions)], maxRepairAttempts, maxPromptTokens, countTokens };
    let count = 0;
    this.#stamps = {
      newId: idGenerator ?? (() => `action-${++count}`),
      now: () => (clock ? new Date(clock()).toISOString() : null),
    };
  }

  /** The next action. Rejects with OnDevicePlannerError, the signal's reason, or whatever the generator does. */
  async plan(context: AgentContext, { signal, onChunk }: PlanOptions = {}): Promise<Action> {
    const decided: Action[] = [];
    for await (const chunk of this.planStream(context, signal && { signal })) {
      onChunk?.(chunk);
      if (chunk.type === "action") decided.push(chunk.action);
    }
    return decided[0] as Action;
  }

  /** The next action, told while it comes about; its chunk is last. Rejects as `plan` does. */
  async *planStream(
    context: AgentContext,
    { signal }: StreamOptions = {},
  ): AsyncGenerator<PlannerChunk, void, undefined> {
    const { generate, maxRepairAttempts: maxRepairs, maxPromptTokens, countTokens } = this.#options;
    const tools = context.tools ?? [];
    const names = tools.map(({ name }) => name);
    const kinds = this.#options.actions.filter((kind) => kind !== "tool_call" || tools.length > 0);
    if (kinds.length === 0) throw new OnDevicePlannerError(0, "there is no tool to call, and nothing else is allowed");

    let trimmed = { dropped: 0, leftOut: 0 };
    let told = trimmed;
    const compose = (closing: readonly PlannerMessage[]): readonly PlannerMessage[] => {
      let made = plannerPrompt(context, kinds, closing, maxPromptTokens, countTokens);
      // When not all repair turns fit, the latest two must do.
      if (made.kind === "too-long")
        made = plannerPrompt(context, kinds, closing.slice(-2), maxPromptTokens, countTokens);
      if (made.kind === "too-long") {
        const { needed, allowed } = made;
        const reason = `the task, its tools and the last observation need ${needed} tokens, and ${allowed} are allowed`;
        throw new OnDevicePlannerError(closing.length / 2, reason);
      }
      const { messages, dropped, leftOut } = made;
      trimmed = { dropped, leftOut };
      return messages;
    };
    const read = (text: string) => {
      const value = readReply(text);
      return value instanceof ParseFailure ? value : readAction(value, kinds, names, this.#stamps);
    };

    const schema = plannerSchema(kinds, tools);
    for await (const step of pursue<Action>({ generate, compose, read, schema, maxRepairs, signal })) {
      if (trimmed.dropped !== told.dropped || trimmed.leftOut !== told.leftOut) {
        told = trimmed;
        yield { type: "trimmed", ...trimmed };
      }
      switch (step.kind) {
        case "heard":
          if (step.thought !== "") yield { type: "reasoning", delta: step.thought };
          if (step.said !== "") yield { type: "text", delta: step.said };
          break;
        case "repairing":
          yield { type: "repair", attempt: step.attempt, reason: step.reason };
          break;
        case "gave-up":
          throw new OnDevicePlannerError(step.attempts, step.reason);
        case "settled":
          yield { type: "action", action: step.value };
      }
    }
  }
}
