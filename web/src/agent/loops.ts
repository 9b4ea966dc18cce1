import limits from "../../../loop/limits.json" with { type: "json" };

/** Calls of a circle that is noticed the second time round; a longer one ends with the steps of the turn. */
const LONGEST_CIRCLE = limits.repeatedCycleCalls;

/**
 * Whether a model goes round in circles: the same call with the same result, twice in a row or by turns with a few others. Notes
 * the closed calls of one turn, in order.
 */
export class LoopDetector {
  readonly #steps: string[] = [];

  /**
   * Take down a closed call. True when it closes a circle: what came just before came twice. `argumentsJson` must be the same
   * for the same arguments, `resultDigest` for the same result; what they hold beyond that makes no difference.
   */
  note(name: string, argumentsJson: string, resultDigest: string): boolean {
    this.#steps.push(JSON.stringify([name, argumentsJson, resultDigest]));
    for (let length = 1; length <= LONGEST_CIRCLE; length++) if (this.#endsWithTwice(length)) return true;
    return false;
  }

  #endsWithTwice(length: number): boolean {
    const { length: count } = this.#steps;
    if (count < 2 * length) return false;
    return this.#steps.slice(-length).every((step, place) => step === this.#steps[count - 2 * length + place]);
  }
}
