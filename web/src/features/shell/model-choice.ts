import type { ModelInfo } from "../../protocol/generated.ts";
import type { KeptTexts } from "./shell-environment.ts";

/**
 * Which model each conversation was given; under null, the one that begins next. This browser keeps it: another model than the
 * chosen one may hold what it must not be told, so a page that is loaded again does not go back to it.
 */
export class ModelChoice {
  readonly #kept: KeptTexts;

  constructor(kept: KeptTexts) {
    this.#kept = kept;
  }

  choose(conversationId: string | null, modelId: string): void {
    this.#kept.write(nameOf(conversationId), modelId);
  }

  /** Give a conversation the choice that was made for another. */
  copy(from: string | null, to: string): void {
    const chosen = this.#kept.read(nameOf(from));
    if (chosen !== "") this.choose(to, chosen);
  }

  forget(conversationId: string | null): void {
    this.#kept.write(nameOf(conversationId), "");
  }

  /** The chosen model of those that there are, else the usual one, else the first. */
  among(models: readonly ModelInfo[], conversationId: string | null, usual: string): ModelInfo | null {
    const chosen = this.#kept.read(nameOf(conversationId)) || usual;
    return models.find(({ id }) => id === chosen) ?? models[0] ?? null;
  }
}

function nameOf(conversationId: string | null): string {
  return `model:${conversationId ?? "new"}`;
}
