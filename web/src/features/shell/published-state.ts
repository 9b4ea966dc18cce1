/** A value that is composed anew when anything changes, for React's useSyncExternalStore. */
export class PublishedState<T> {
  readonly #compose: () => T;
  readonly #nextFrame: (paint: () => void) => void;
  readonly #listeners = new Set<() => void>();
  #planned = false;
  #value: T;

  constructor(compose: () => T, nextFrame: (paint: () => void) => void) {
    this.#compose = compose;
    this.#nextFrame = nextFrame;
    this.#value = compose();
  }

  get value(): T {
    return this.#value;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(): void {
    this.#value = this.#compose();
    for (const listener of this.#listeners) listener();
  }

  /** Once before the next frame, however often it is asked for. */
  publishAtNextFrame(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#nextFrame(() => {
      this.#planned = false;
      this.publish();
    });
  }
}
