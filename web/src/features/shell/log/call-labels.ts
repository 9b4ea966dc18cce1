import type { CallCard } from "../../../agent/conversation.ts";
import { explainOutcome } from "../../../agent/copy.ts";
import type { Outcome, PermissionMode } from "../../../protocol/generated.ts";
import type { Tone } from "../../../ui/Tag.tsx";

export interface CallState {
  readonly label: string;
  readonly tone: Tone;
}

const CLOSED: Readonly<Record<Outcome, CallState>> = {
  ok: { label: "Done", tone: "ok" },
  refusedByPolicy: { label: "Refused", tone: "danger" },
  deniedByUser: { label: "Denied", tone: "danger" },
  stepUpFailed: { label: "Not confirmed", tone: "danger" },
  executionError: { label: "Failed", tone: "danger" },
  timedOut: { label: "Timed out", tone: "danger" },
  cancelled: { label: "Cancelled", tone: "plain" },
  invalidArguments: { label: "Not accepted", tone: "danger" },
  unknownTool: { label: "No such tool", tone: "danger" },
};

/** The state of a call as a label. */
export function stateOf({ phase, result }: CallCard): CallState {
  if (result?.reason === "outcomeUnknown") return { label: "Outcome unknown", tone: "waiting" };
  if (result?.reason === "approvalExpired") return { label: "Expired", tone: "danger" };
  if (result !== undefined) return CLOSED[result.outcome];
  switch (phase) {
    case "waiting":
      return { label: "Waiting for approval", tone: "waiting" };
    case "running":
      return { label: "Running", tone: "info" };
    default:
      return { label: "Next", tone: "plain" };
  }
}

/** Why a call gave nothing, as a sentence; null when it gave something. */
export function explainFailedCall({ call, result }: CallCard): string | null {
  return result === undefined || result.outcome === "ok" ? null : explainOutcome(call.name, result);
}

export const MODES: Readonly<Record<PermissionMode, CallState>> = {
  auto: { label: "Runs by itself", tone: "ok" },
  consent: { label: "Asks first", tone: "waiting" },
  stepUp: { label: "Needs your passkey", tone: "waiting" },
  forbidden: { label: "Not allowed", tone: "danger" },
};
