import limits from "../../../loop/limits.json" with { type: "json" };
import type { ToolCall, ToolDescriptor } from "../protocol/generated.ts";

/**
 * The calls that are sent at once, of those that have no result yet: a run of calls that a person is asked about, or the first call
 * alone. The model wrote all of them before it saw a result, so that none can need what another one finds.
 */
export function planAtFront(waiting: readonly ToolCall[], tools: readonly ToolDescriptor[]): readonly ToolCall[] {
  const asked = new Set(tools.filter(isAskedAbout).map(nameOf));
  const end = waiting.slice(0, limits.planSteps).findIndex(({ name }) => !asked.has(name));
  return waiting.slice(0, Math.max(end < 0 ? limits.planSteps : end, 1));
}

/** Whether a person is asked before a call of this tool runs. */
export function isAskedAbout({ permission }: ToolDescriptor): boolean {
  return permission === "consent" || permission === "stepUp";
}

function nameOf({ name }: ToolDescriptor): string {
  return name;
}
