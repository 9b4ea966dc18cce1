import type { ToolDescriptor } from "../protocol/generated.ts";

/**
 * `respond(message)` is how a model says "just text" while tools are offered. It never reaches the gateway. After
 * antoinezambelli/forge (MIT), ADR-013, by way of Unsloth Studio.
 */
const RESPOND = "respond";

/** Whether a proposed call is the pseudo-tool. A real tool of that name, if one is published, keeps its meaning. */
export function isRespond(name: string, tools: readonly ToolDescriptor[]): boolean {
  return name === RESPOND && !tools.some((tool) => tool.name === RESPOND && tool.local !== true);
}

/** The text of a `respond` call; empty when there is none, and then the turn ends all the same. */
export function messageOf(args: Record<string, unknown>): string {
  return typeof args.message === "string" ? args.message : "";
}

/** The tools that a model may be shown as callable. */
export function offered(tools: readonly ToolDescriptor[]): ToolDescriptor[] {
  return tools.filter((tool) => tool.permission !== "forbidden" && tool.local !== true);
}
