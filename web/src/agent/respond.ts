import type { ToolDescriptor } from "../protocol/generated.ts";
import type { DeclaredTool } from "./chat.ts";
import { hasHalf, isObject, isParseFailure, readObject } from "./parse.ts";

/*
 * `respond(message)` is how a model says "just text" while tools are offered. It never reaches the gateway. After
 * antoinezambelli/forge (MIT), its ADR-013, by way of a change proposed to Unsloth Studio.
 */
const RESPOND = "respond";

/** The pseudo-tool as a provider is told of it, with the schema that the gateway publishes, to the byte. */
export const RESPOND_TOOL: DeclaredTool = {
  type: "function",
  function: {
    name: RESPOND,
    description: "Say something to the user in plain words. Use it to answer, and when no other tool is needed.",
    parameters: {
      type: "object",
      properties: { message: { type: "string", description: "What to say to the user." } },
      required: ["message"],
      additionalProperties: false,
    },
  },
};

/**
 * The tools with the pseudo-tool after them, and whether a call of that name will mean it. Without tools nothing is added. A
 * tool of that name keeps its meaning, unless it is the published pseudo-tool itself. The given list is never changed, and
 * entries that are no tools are passed over.
 */
export function injectRespond<T>(tools: readonly T[]): { tools: readonly (T | DeclaredTool)[]; injected: boolean };
export function injectRespond(tools: null | undefined): { tools: null | undefined; injected: boolean };
export function injectRespond(tools: readonly unknown[] | null | undefined) {
  if (!tools || tools.length === 0) return { tools, injected: false };
  const named = tools.find((tool) => nameOf(tool) === RESPOND);
  if (named !== undefined) return { tools, injected: isLocal(named) };
  return { tools: [...tools, RESPOND_TOOL], injected: true };
}

/**
 * Whether a proposed call is the pseudo-tool: a call's name, or a call in either of its shapes. A real tool of that name among
 * `tools` keeps its meaning.
 */
export function isRespond(call: unknown, tools: readonly unknown[] = []): boolean {
  const name = typeof call === "string" ? call : nameOf(call);
  return name === RESPOND && !tools.some((tool) => nameOf(tool) === RESPOND && !isLocal(tool));
}

/** The text of a call's arguments, be they JSON or its object. Empty when there is none: the turn ends all the same. */
export function messageOf(given: unknown): string {
  const read = typeof given === "string" ? readObject(given) : given;
  const message = isObject(read) && !isParseFailure(read) ? read.message : null;
  // Half of a surrogate pair is nothing that could be stored.
  return typeof message === "string" && !hasHalf(message) ? message : "";
}

/** The tools that a model may be shown as callable. */
export function offered(tools: readonly ToolDescriptor[]): ToolDescriptor[] {
  return tools.filter((tool) => tool.permission !== "forbidden" && tool.local !== true);
}

function nameOf(entry: unknown): unknown {
  if (!isObject(entry)) return undefined;
  return isObject(entry.function) ? entry.function.name : entry.name;
}

function isLocal(tool: unknown): boolean {
  return tool === RESPOND_TOOL || (isObject(tool) && tool.local === true);
}
