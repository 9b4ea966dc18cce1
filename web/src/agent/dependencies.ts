import type { InferenceToken } from "../protocol/generated.ts";
import type { Chat } from "./chat.ts";
import type { Emit } from "./events.ts";
import type { Gateway } from "./gateway.ts";

/** What the loop needs from the world. */
export interface LoopDependencies {
  readonly gateway: Gateway;
  /** A chat that speaks with this token. */
  chatWith(token: InferenceToken): Chat;
  newCallId(): string;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** The day where the person is, `2026-11-21`. */
  today(): string;
  /** Rounds of tool calls that a turn may have, if fewer than the loop takes. */
  mostRounds?(): number;
  /** What the person has said since, to be taken in before the next step; each text is given once. */
  takeSteered?(): readonly string[];
  readonly emit: Emit;
}
