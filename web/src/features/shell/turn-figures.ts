import type { AgentEvent } from "../../agent/events.ts";
import type { RequestFigures } from "./personal-chat.ts";

/** What a turn took, over all of its requests. */
export interface AnswerFigures extends RequestFigures {
  /** From the sending of the message to the first words that the person saw; null where this page did not send it. */
  readonly firstSeconds: number | null;
}

/** What the turns took that this page has seen. A turn may ask the model several times; the person waited once. */
export class TurnFigures {
  #byTurn: ReadonlyMap<string, AnswerFigures> = new Map();
  /** When the message was sent whose first words are still to come, in milliseconds. */
  #sentAt: number | null = null;

  /** By turn; another map whenever something has changed. */
  get byTurn(): ReadonlyMap<string, AnswerFigures> {
    return this.#byTurn;
  }

  send(at: number): void {
    this.#sentAt = at;
  }

  /** Something happened in a turn: the first words of it end the wait. */
  follow(event: AgentEvent, turnId: string | null, at: number): void {
    const shows =
      (event.type === "text:streamed" && event.delta.trim() !== "") ||
      (event.type === "assistant:said" && event.content !== "");
    if (shows && turnId !== null && this.#sentAt !== null) {
      this.#set(turnId, { firstSeconds: (at - this.#sentAt) / 1_000 });
      this.#sentAt = null;
    }
    // A turn without a word says nothing about the next one.
    if (event.type === "turn:ended") this.#sentAt = null;
  }

  /** One more request of a turn has ended. */
  add(turnId: string, { tokens, seconds }: RequestFigures): void {
    const before = this.#byTurn.get(turnId);
    this.#set(turnId, { tokens: (before?.tokens ?? 0) + tokens, seconds: (before?.seconds ?? 0) + seconds });
  }

  #set(turnId: string, changed: Partial<AnswerFigures>): void {
    const before = this.#byTurn.get(turnId) ?? { tokens: 0, seconds: 0, firstSeconds: null };
    this.#byTurn = new Map(this.#byTurn).set(turnId, { ...before, ...changed });
  }
}
