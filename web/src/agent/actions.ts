import limits from "../../../loop/limits.json" with { type: "json" };
import mistakes from "../../../loop/mistakes.json" with { type: "json" };
import { constrain } from "./action-schema.ts";
import type { JsonSchema } from "./chat.ts";
import { fill } from "./fill.ts";
import { ARGUMENTS, argumentsOf, ParseFailure, toolOf } from "./parse.ts";
import { neutralise } from "./provenance.ts";

/*
 * The actions that a planner may choose from, and how each is read out of a model's object. By default five, because fewer
 * choices are right more often; the rest is opt-in. What the opt-in ones mean is up to the host.
 */

interface Field {
  readonly name: string;
  readonly form?: "object";
  readonly optional?: true;
}

/** The members of each action beside `id`, `type` and `createdAt`. Text, unless a form is given. */
const FIELDS = {
  tool_call: [{ name: "toolName" }, { name: "arguments", form: "object" }],
  final_answer: [{ name: "content" }],
  ask_user: [{ name: "question" }],
  stop: [{ name: "reason", optional: true }],
  thought: [{ name: "content" }],
  spawn_subagent: [{ name: "task" }, { name: "role", optional: true }],
  join_subagent: [{ name: "subagentId" }],
  cancel_subagent: [{ name: "subagentId" }, { name: "reason", optional: true }],
  push_goal: [{ name: "goal" }],
  complete_goal: [{ name: "result", optional: true }],
  schedule: [{ name: "task" }, { name: "at" }],
} as const satisfies Readonly<Record<string, readonly Field[]>>;

/** `type` of an action. */
export type ActionKind = keyof typeof FIELDS;

/** requirement 001-06. */
export const DEFAULT_ACTIONS: readonly ActionKind[] = ["tool_call", "final_answer", "ask_user", "stop", "thought"];

type Valued<F> = F extends { readonly name: infer N extends string }
  ? F extends { readonly form: "object" }
    ? { readonly [name in N]: Record<string, unknown> }
    : F extends { readonly optional: true }
      ? { readonly [name in N]?: string }
      : { readonly [name in N]: string }
  : never;

type Joined<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer A) => void ? A : never;

/** What a planner decided. `createdAt` is RFC 3339, and missing when neither the model nor a clock says. */
export type Action = {
  [K in ActionKind]: { readonly id: string; readonly type: K; readonly createdAt?: string } & Joined<
    Valued<(typeof FIELDS)[K][number]>
  >;
}[ActionKind];

/** A tool as the planner shows it. `inputSchema` is JSON Schema. */
export interface PlannerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** What an action gets that comes without: an id, and the time if there is a clock. */
export interface ActionDefaults {
  newId(): string;
  now(): string | null;
}

const MOST_NAMED = limits.plannerNamedTools;
const INLINE_LENGTH = limits.plannerNameCharacters;
const ID = /^[A-Za-z0-9_.:-]{1,64}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
const OWN_MEMBERS = new Set(["id", "type", "createdAt"]);

export function isActionKind(word: unknown): word is ActionKind {
  return typeof word === "string" && Object.hasOwn(FIELDS, word);
}

/** A model's object as an action of this vocabulary, or the reason why it is none. Other members are left behind. */
export function readAction(
  written: Record<string, unknown>,
  kinds: readonly ActionKind[],
  tools: readonly string[],
  stamps: ActionDefaults,
): Action | ParseFailure {
  const value = translate(written, tools);
  const { type, id, createdAt } = value;
  if (!isActionKind(type) || !kinds.includes(type))
    return new ParseFailure(fill(mistakes.otherKind, () => kinds.join(", ")));
  const fields: Record<string, unknown> = {};
  for (const field of FIELDS[type]) {
    const given = readField(field, value);
    if (given instanceof ParseFailure) return given;
    if (given !== null) fields[field.name] = given;
  }
  const { toolName } = fields;
  if (typeof toolName === "string" && !tools.includes(toolName)) {
    const known = tools.slice(0, MOST_NAMED).join(", ");
    return new ParseFailure(fill(mistakes.unknownTool, (blank) => (blank === "tool" ? inline(toolName) : known)));
  }
  const time = typeof createdAt === "string" && TIME.test(createdAt) ? createdAt : stamps.now();
  return {
    id: typeof id === "string" && ID.test(id) ? id : stamps.newId(),
    type,
    ...(time !== null && { createdAt: time }),
    ...fields,
  } as Action;
}

/** An action as an example of its form, on one line. */
export function shapeOf(kind: ActionKind): string {
  const fields: readonly Field[] = FIELDS[kind];
  const members = fields.map(({ name, form }) => `"${name}":${form === "object" ? "{…}" : '"…"'}`);
  return `{${[`"type":"${kind}"`, ...members].join(",")}}`;
}

/** JSON Schema of one action of this vocabulary, for runtimes that constrain decoding. */
export function plannerSchema(kinds: readonly ActionKind[], tools: readonly PlannerTool[]): JsonSchema {
  const options = kinds.flatMap((kind) => {
    if (kind === "tool_call") return tools.map(callSchema);
    return [objectOf(kind, Object.fromEntries(FIELDS[kind].map(({ name }) => [name, { type: "string" }])))];
  });
  return { oneOf: options };
}

/** What models write for an action when they mean one: a tool's name as `type`, or one of the short shapes. */
function translate(value: Record<string, unknown>, tools: readonly string[]): Record<string, unknown> {
  const { type } = value;
  if (typeof type === "string" && tools.includes(type) && !isActionKind(type)) {
    if (ARGUMENTS.some((key) => Object.hasOwn(value, key))) return { ...value, type: "tool_call", toolName: type };
    const given = Object.fromEntries(Object.entries(value).filter(([name]) => !OWN_MEMBERS.has(name)));
    return { ...value, type: "tool_call", toolName: type, arguments: given };
  }
  if (type === undefined || type === null || type === "function") {
    if (toolOf(value) !== null) return { ...value, type: "tool_call" };
    if (Object.hasOwn(value, "answer")) return { ...value, type: "final_answer", content: value.answer };
  }
  return value;
}

/** A field's value; null for one that may be missing and is. */
function readField(
  field: Field,
  value: Record<string, unknown>,
): string | Record<string, unknown> | ParseFailure | null {
  const { name, form, optional = false } = field;
  if (form === "object") {
    const isGiven = ARGUMENTS.some((key) => value[key] !== undefined && value[key] !== null);
    return isGiven ? argumentsOf(value) : new ParseFailure(fill(mistakes.missingField, () => name));
  }
  const given = (name === "toolName" ? toolOf(value) : value[name]) ?? null;
  if (given === null) return optional ? null : new ParseFailure(fill(mistakes.missingField, () => name));
  if (typeof given !== "string") return new ParseFailure(fill(mistakes.otherField, () => name));
  if (/[^ \t\r\n]/.test(given)) return given;
  return optional ? null : new ParseFailure(fill(mistakes.emptyField, () => name));
}

function callSchema(tool: PlannerTool): JsonSchema {
  return objectOf("tool_call", {
    toolName: { const: tool.name },
    arguments: { type: "object", ...constrain(tool.inputSchema) },
  });
}

function objectOf(kind: ActionKind, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const fields: readonly Field[] = FIELDS[kind];
  return {
    type: "object",
    properties: { type: { const: kind }, ...properties },
    required: ["type", ...fields.filter((field) => field.optional !== true).map(({ name }) => name)],
    additionalProperties: false,
  };
}

/** What a model named, short and on one line, where it is told that there is no such thing. */
function inline(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const printed = text.replace(/[\x00-\x20\x7f`]+/g, " ");
  return neutralise(Array.from(printed).slice(0, INLINE_LENGTH).join(""));
}
