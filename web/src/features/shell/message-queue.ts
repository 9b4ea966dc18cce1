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
    this.#texts = readTexts(kept.read(this.#name));
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
    this.#replace([...others.slice(0, this.#steering), text, ...others.slice(this.#steering)]);
    this.#steering++;
  }

  /** The texts that are meant for the turn under way; they are then no longer in the queue. */
  takeSteering(): readonly string[] {
    const taken = this.#texts.slice(0, this.#steering);
    const rest = this.#texts.slice(this.#steering);
    this.#steering = 0;
    if (taken.length > 0) this.#replace(rest);
    return taken;
  }

  /** The turn is over: what was meant for it is sent like the others. */
  stopSteering(): void {
    this.#steering = 0;
  }

  /** The text at a place, which is then no longer in the queue. */
  take(place: number): string | undefined {
    const text = this.#texts[place];
    if (text !== undefined && place < this.#steering) this.#steering--;
    this.#replace(this.#texts.filter((_, index) => index !== place));
    return text;
  }

  /** Puts back what could not be sent. */
  putBack(text: string): void {
    this.#replace([text, ...this.#texts]);
  }

  clear(): void {
    this.#replace([]);
  }

  #replace(texts: readonly string[]): void {
    this.#texts = texts;
    this.#kept.write(this.#name, texts.length === 0 ? "" : JSON.stringify(texts));
  }
}

/** Anything may stand in a browser's storage. */
function readTexts(stored: string): readonly string[] {
  try {
    const texts: unknown = JSON.parse(stored);
    return Array.isArray(texts) ? texts.filter((text) => typeof text === "string") : [];
  } catch {
    return [];
  }
}
