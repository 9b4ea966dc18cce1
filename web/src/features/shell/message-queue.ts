import type { KeptTexts } from "./shell-environment.ts";

/** What a person wrote while an answer was under way, to be sent one after the other. It survives a reload. */
export class MessageQueue {
  readonly #name: string;
  readonly #kept: KeptTexts;
  #texts: readonly string[];

  constructor(conversationId: string, kept: KeptTexts) {
    this.#name = `queue:${conversationId}`;
    this.#kept = kept;
    this.#texts = readTexts(kept.read(this.#name));
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  add(text: string): void {
    this.#replace([...this.#texts, text]);
  }

  /** The text at a place, which is then no longer in the queue. */
  take(place: number): string | undefined {
    const text = this.#texts[place];
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
