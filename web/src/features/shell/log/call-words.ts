import type { CallCard } from "../../../agent/conversation.ts";
import { explainOutcome } from "../../../agent/copy.ts";
import type { Outcome, PermissionMode } from "../../../protocol/generated.ts";
import type { Tone } from "../../../ui/Tag.tsx";

export interface CallState {
  readonly word: string;
  readonly tone: Tone;
}

const CLOSED: Readonly<Record<Outcome, CallState>> = {
  ok: { word: "Done", tone: "ok" },
  refusedByPolicy: { word: "Refused", tone: "danger" },
  deniedByUser: { word: "Denied", tone: "danger" },
  stepUpFailed: { word: "Not confirmed", tone: "danger" },
  executionError: { word: "Failed", tone: "danger" },
  timedOut: { word: "Timed out", tone: "danger" },
  cancelled: { word: "Cancelled", tone: "plain" },
  invalidArguments: { word: "Not accepted", tone: "danger" },
  unknownTool: { word: "No such tool", tone: "danger" },
};

/** Where a call stands, in a word. */
export function stateOf({ phase, result }: CallCard): CallState {
  if (result?.reason === "outcomeUnknown") return { word: "Outcome unknown", tone: "waiting" };
  if (result?.reason === "approvalExpired") return { word: "Expired", tone: "danger" };
  if (result !== undefined) return CLOSED[result.outcome];
  switch (phase) {
    case "waiting":
      return { word: "Waiting for approval", tone: "waiting" };
    case "running":
      return { word: "Running", tone: "info" };
    default:
      return { word: "Next", tone: "plain" };
  }
}

/** Why a call gave nothing, as a sentence; null when it gave something. */
export function whyNot({ call, result }: CallCard): string | null {
  return result === undefined || result.outcome === "ok" ? null : explainOutcome(call.name, result);
}

export const MODES: Readonly<Record<PermissionMode, CallState>> = {
  auto: { word: "Runs by itself", tone: "ok" },
  consent: { word: "Asks first", tone: "waiting" },
  stepUp: { word: "Needs your passkey", tone: "waiting" },
  forbidden: { word: "Not allowed", tone: "danger" },
};
