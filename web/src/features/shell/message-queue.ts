import { isObject } from "../../agent/parse.ts";
import type { KeptTexts } from "./shell-environment.ts";

/**
 * What a person wrote while an answer was under way, to be sent one after the other. It survives a reload. The first of them may be
 * meant for the turn under way: the loop takes those in before its next step. If there is none, they are sent like the others.
 */
export class MessageQueue {
  readonly #name: string;
  readonly #kept: KeptTexts;
  #texts: readonly string[];
  #steering = 0;

  constructor(conversationId: string, kept: KeptTexts) {
    this.#name = `queue:${conversationId}`;
    this.#kept = kept;
    const { texts, steering } = readQueue(kept.read(this.#name));
    this.#texts = texts;
    this.#steering = steering;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  /** How many texts, from the first on, are meant for the turn under way. */
  get steering(): number {
    return this.#steering;
  }

  add(text: string): void {
    this.#replace([...this.#texts, text]);
  }

  /** Have the text at a place taken in before the next step, after those that are meant for it already. */
  steer(place: number): void {
    const text = this.#texts[place];
    if (text === undefined || place < this.#steering) return;
    const others = this.#texts.filter((_, index) => index !== place);
    this.#replace([...others.slice(0, this.#steering), text, ...others.slice(this.#steering)], this.#steering + 1);
  }

  /** The texts that are meant for the turn under way; they are then no longer in the queue. */
  takeSteering(): readonly string[] {
    const taken = this.#texts.slice(0, this.#steering);
    const rest = this.#texts.slice(this.#steering);
    if (taken.length > 0) this.#replace(rest, 0);
    return taken;
  }

  /** The turn is over: what was meant for it is sent like the others. */
  stopSteering(): void {
    if (this.#steering > 0) this.#replace(this.#texts, 0);
  }

  /** The text at a place, which is then no longer in the queue. */
  take(place: number): string | undefined {
    const text = this.#texts[place];
    const steering = text !== undefined && place < this.#steering ? this.#steering - 1 : this.#steering;
    this.#replace(
      this.#texts.filter((_, index) => index !== place),
      steering,
    );
    return text;
  }

  /** Puts back what could not be sent. */
  putBack(text: string): void {
    this.#replace([text, ...this.#texts]);
  }

  clear(): void {
    this.#replace([], 0);
  }

  #replace(texts: readonly string[], steering = this.#steering): void {
    this.#texts = texts;
    this.#steering = steering;
    this.#kept.write(this.#name, texts.length === 0 ? "" : JSON.stringify({ texts, steering }));
  }
}

interface Queue {
  readonly texts: readonly string[];
  readonly steering: number;
}

/** Anything may stand in a browser's storage. */
function readQueue(stored: string): Queue {
  try {
    const queue: unknown = JSON.parse(stored);
    const kept: unknown = isObject(queue) ? queue.texts : queue;
    const texts = Array.isArray(kept) ? kept.filter((text) => typeof text === "string") : [];
    const steering = isObject(queue) ? texts.findIndex((_, place) => place === queue.steering) : 0;
    return { texts, steering: Math.max(steering, 0) };
  } catch {
    return { texts: [], steering: 0 };
  }
}
