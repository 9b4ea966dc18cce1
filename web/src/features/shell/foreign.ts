import type { ToolResult } from "../../protocol/generated.ts";

/**
 * Whether a result came from outside: not from the person's own workspace or record. A warning on every file would be one that
 * nobody reads. How far a result is believed is another question, and nothing is believed more for being one's own.
 */
export function isForeign({ trust, own }: Pick<ToolResult, "trust" | "own">): boolean {
  return trust === "untrusted" && own !== true;
}
