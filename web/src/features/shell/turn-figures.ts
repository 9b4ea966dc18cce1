import type { Gauge } from "../../agent/conversation.ts";
import type { AgentEvent } from "../../agent/events.ts";
import type { RequestFigures } from "./personal-chat.ts";
import type { KeptTexts } from "./shell-environment.ts";

/** What a turn took, over all of its requests. */
export interface AnswerFigures extends RequestFigures {
  /** From the sending of the message to the first words that the person saw; null where this browser did not send it. */
  readonly firstSeconds: number | null;
}

type Three = readonly [number, number, number];

/** One text for all conversations, so that what is kept has an end: of each turn its figures, of each conversation its gauge. */
const NAME = "figures";
const MOST_KEPT = 200;

/** What the turns took that this browser has seen. A turn may ask the model several times; the person waited once. */
export class TurnFigures {
  readonly #conversationId: string;
  readonly #kept: KeptTexts;
  #byTurn: ReadonlyMap<string, AnswerFigures> = new Map();
  /** When the message was sent whose first words are still to come, in milliseconds. */
  #sentAt: number | null = null;

  constructor(conversationId: string, kept: KeptTexts) {
    this.#conversationId = conversationId;
    this.#kept = kept;
  }

  /** By turn; another map whenever something has changed. */
  get byTurn(): ReadonlyMap<string, AnswerFigures> {
    return this.#byTurn;
  }

  /** Have again what this page, an earlier one or another tab has seen. Gives how full the model's context was. */
  recall(): Gauge | null {
    const kept = this.#read();
    const turns = [...kept].map(([turnId, [tokens, seconds, first]]): [string, AnswerFigures] => [
      turnId,
      { tokens, seconds, firstSeconds: first < 0 ? null : first },
    ]);
    this.#byTurn = new Map(turns);
    const [used, limit, exact] = kept.get(this.#conversationId) ?? [];
    return used === undefined || limit === undefined ? null : { used, limit, exact: exact === 1 };
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
    if (event.type === "tokens:counted")
      this.#keep(this.#conversationId, [event.used, event.limit, Number(event.exact)]);
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
    const figures = { ...before, ...changed };
    this.#byTurn = new Map(this.#byTurn).set(turnId, figures);
    this.#keep(turnId, [figures.tokens, figures.seconds, figures.firstSeconds ?? -1]);
  }

  #keep(id: string, figures: Three): void {
    const kept = this.#read();
    kept.delete(id);
    kept.set(id, figures);
    this.#kept.write(NAME, JSON.stringify([...kept].slice(-MOST_KEPT)));
  }

  /** The oldest first. Anything may stand in a browser's storage. */
  #read(): Map<string, Three> {
    try {
      const stored: unknown = JSON.parse(this.#kept.read(NAME));
      return new Map(Array.isArray(stored) ? stored.filter(isKept) : []);
    } catch {
      return new Map();
    }
  }
}

function isKept(entry: unknown): entry is [string, Three] {
  if (!Array.isArray(entry) || typeof entry[0] !== "string" || !Array.isArray(entry[1])) return false;
  return entry[1].length === 3 && entry[1].every((figure) => typeof figure === "number");
}
