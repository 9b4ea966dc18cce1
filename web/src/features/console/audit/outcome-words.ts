import { t } from "../../../language/t.ts";
import type { Tone } from "../../../ui/Tag.tsx";
import { OUTCOMES } from "./filters.ts";

/** How calls ended, from the outside: each of these has one colour, everywhere. */
export type Ending = "ran" | "stopped" | "failed" | "open";

export const ENDINGS: readonly (readonly [Ending, string])[] = [
  ["ran", t`Ran`],
  ["stopped", t`Stopped`],
  ["failed", t`Failed`],
  ["open", t`Under way`],
];

const WORDS = new Map(OUTCOMES.filter(([outcome]) => outcome !== ""));
const STOPPED = new Set(["refusedByPolicy", "deniedByUser", "stepUpFailed", "cancelled", "timedOut"]);

export function endingOf(outcome: string): Ending {
  if (outcome === "ok") return "ran";
  if (outcome === "open") return "open";
  return STOPPED.has(outcome) ? "stopped" : "failed";
}

/** What a filter can ask for: every outcome, and calls that have none yet. */
export const CALL_OUTCOMES: readonly (readonly [string, string])[] = [...WORDS, ["open", t`Waiting or running`]];

export function wordOf(outcome: string): string {
  return outcome === "open" ? t`Under way` : (WORDS.get(outcome) ?? outcome);
}

/** In place of a tool's name. A call that was refused before anybody looked for its tool says nothing of whether there is one. */
export function noTool(outcome: string): string {
  return outcome === "unknownTool" ? t`no such tool` : t`tool not looked for`;
}

export const ENDING_TONES: Readonly<Record<Ending, Tone>> = {
  ran: "ok",
  stopped: "waiting",
  failed: "danger",
  open: "info",
};
