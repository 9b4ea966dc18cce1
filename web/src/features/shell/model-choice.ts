import type { ModelInfo } from "../../protocol/generated.ts";

/** Which model each conversation was given; under null, the one that begins next. Another one may hold what a model must not be told. */
export class ModelChoice {
  readonly #chosen = new Map<string | null, string>();

  choose(conversationId: string | null, modelId: string): void {
    this.#chosen.set(conversationId, modelId);
  }

  /** Give a conversation the choice that was made for another. */
  copy(from: string | null, to: string): void {
    const chosen = this.#chosen.get(from);
    if (chosen !== undefined) this.#chosen.set(to, chosen);
  }

  forget(conversationId: string | null): void {
    this.#chosen.delete(conversationId);
  }

  /** The chosen model of those that there are, else the usual one, else the first. */
  among(models: readonly ModelInfo[], conversationId: string | null, usual: string | null): ModelInfo | null {
    const chosen = this.#chosen.get(conversationId) ?? usual;
    return models.find(({ id }) => id === chosen) ?? models[0] ?? null;
  }
}
