import type { InferenceToken, ModelInfo, TurnSnapshot } from "../protocol/generated.ts";
import type { Message } from "./messages.ts";

/** A turn under way. `snapshot` is replaced when the connection or the policy changes; `stale` asks for a new one. */
export interface LoopTurn {
  readonly id: string;
  readonly conversationId: string;
  /** Who proposes the calls; null when the person does. */
  readonly model: ModelInfo | null;
  readonly messages: Message[];
  /** What of them the model is shown; a summary may stand for the beginning. */
  readonly shown: Message[];
  readonly stop: AbortController;
  snapshot: TurnSnapshot;
  stale: boolean;
  token: InferenceToken | null;
  /** What the message asks for, once the model has been asked; null before. */
  actions: readonly string[] | null;
  /** Whether a summary may be asked for; no longer once none came. */
  maySummarise: boolean;
  /** The id of the call that was sent last. */
  sent: string | null;
  /** The answer as far as it came. */
  streamed: string;
  /** An answer that broke off and is asked for again. It stays on the screen until there is something else to read. */
  broken: string;
  promptTokens: number;
  completionTokens: number;
}

/** `messages` and `shown` are the conversation's own lists; the turn writes what happens to their ends. */
export function openTurn(
  snapshot: TurnSnapshot,
  model: ModelInfo | null,
  messages: Message[],
  shown: Message[],
): LoopTurn {
  return {
    id: snapshot.turnId,
    conversationId: snapshot.conversationId,
    model,
    messages,
    shown,
    stop: new AbortController(),
    snapshot,
    stale: false,
    token: null,
    actions: null,
    maySummarise: true,
    sent: null,
    streamed: "",
    broken: "",
    promptTokens: 0,
    completionTokens: 0,
  };
}

/** Why a turn was aborted from within this page: the person, the end of the grace period, or another tab. */
export class TurnStopped extends Error {
  override readonly name = "TurnStopped";
  readonly why: "stopped" | "over" | "elsewhere";

  constructor(why: TurnStopped["why"]) {
    super(why);
    this.why = why;
  }
}

/** Reasons after which the snapshot in hand is good for nothing more. */
const VOID_SNAPSHOT: ReadonlySet<string> = new Set(["staleSnapshot", "snapshotExpired", "policyChanged"]);

export function voidsSnapshot(reason: string | undefined): boolean {
  return reason !== undefined && VOID_SNAPSHOT.has(reason);
}
