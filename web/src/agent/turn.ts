import type { InferenceToken, ModelInfo, TurnSnapshot } from "../protocol/generated.ts";
import type { Message } from "./messages.ts";

/** A turn under way. `snapshot` is replaced when the connection or the policy changes; `stale` asks for a new one. */
export interface Turn {
  readonly id: string;
  readonly conversationId: string;
  /** Who proposes the calls; null when the person does. */
  readonly model: ModelInfo | null;
  readonly messages: Message[];
  readonly stop: AbortController;
  snapshot: TurnSnapshot;
  stale: boolean;
  token: InferenceToken | null;
  /** The answer as far as it came. */
  streamed: string;
  promptTokens: number;
  completionTokens: number;
}

/** `messages` is the conversation's own list; the turn writes what happens to its end. */
export function openTurn(snapshot: TurnSnapshot, model: ModelInfo | null, messages: Message[]): Turn {
  return {
    id: snapshot.turnId,
    conversationId: snapshot.conversationId,
    model,
    messages,
    stop: new AbortController(),
    snapshot,
    stale: false,
    token: null,
    streamed: "",
    promptTokens: 0,
    completionTokens: 0,
  };
}

/** Why a turn was aborted from within this page: the person, the end of the grace period, or another tab. */
export class Halt extends Error {
  override readonly name = "Halt";
  readonly why: "stopped" | "over" | "elsewhere";

  constructor(why: Halt["why"]) {
    super(why);
    this.why = why;
  }
}

/** Reasons after which the snapshot in hand is good for nothing more. */
const VOID_SNAPSHOT: ReadonlySet<string> = new Set(["staleSnapshot", "snapshotExpired", "policyChanged"]);

export function voidsSnapshot(reason: string | undefined): boolean {
  return reason !== undefined && VOID_SNAPSHOT.has(reason);
}
