import { explainProblem } from "./problems.ts";

/** What the page tried to do, and what of it could not be done. */
export class Attempts {
  readonly #changed: () => void;
  #problem: string | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** What could not be done just now, in words. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Say that something could not be done; null takes back what was said. */
  say(problem: string | null): void {
    this.#problem = problem;
    this.#changed();
  }

  /** Do something that may fail, and say so in words if it does. Gives whether it was done. */
  readonly attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      this.#problem = null;
      await work();
      return true;
    } catch (error) {
      this.#problem = explainProblem(error);
      return false;
    } finally {
      this.#changed();
    }
  };
}
