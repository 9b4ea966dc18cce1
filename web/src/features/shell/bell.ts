import type { AgentEvent } from "../../agent/events.ts";

/** A shorter turn is one whose end somebody waits for at the page. */
const LONG_TURN_MS = 20_000;

interface BellParts {
  /** Whether the person wants to hear anything. */
  readonly isOn: () => boolean;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** Let it be heard, once for each name, however many pages of the shell are open. */
  readonly ring: (name: string) => void;
}

/** Rings when a question waits or a long turn ends: once for each question, and not for what the person stopped. */
export class Bell {
  readonly #parts: BellParts;
  readonly #heard = new Set<string>();
  /** When the turn under way in a conversation began. */
  readonly #begun = new Map<string, number>();

  constructor(parts: BellParts) {
    this.#parts = parts;
  }

  hear(conversationId: string, event: AgentEvent): void {
    const { isOn, now, ring } = this.#parts;
    if (event.type === "turn:begun" || event.type === "turn:resumed") this.#begun.set(conversationId, now());
    if (event.type === "approval:requested" && !this.#heard.has(event.approval.id)) {
      // Remembered while the bell is off as well: a question that is told again after a reconnection is not a new one.
      this.#heard.add(event.approval.id);
      if (isOn()) ring(event.approval.id);
    }
    if (event.type === "turn:ended") {
      const begun = this.#begun.get(conversationId);
      this.#begun.delete(conversationId);
      if (isOn() && event.ending !== "stopped" && begun !== undefined && now() - begun >= LONG_TURN_MS)
        ring(conversationId);
    }
  }
}
