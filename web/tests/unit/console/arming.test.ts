import { beforeEach, describe, expect, test, vi } from "vitest";
import { ARMING_MS, watchArming } from "../../../src/features/console/approvals/arming.ts";

/** A window that a test brings to the front and takes away. */
class FakeWindow {
  present: boolean;
  #listener: () => void = () => {};

  constructor(present: boolean) {
    this.present = present;
  }

  isPresent = () => this.present;

  onChange = (listener: () => void) => {
    this.#listener = listener;
    return () => {
      this.#listener = () => {};
    };
  };

  become(present: boolean): void {
    this.present = present;
    this.#listener();
  }
}

describe("decision buttons (security case 35)", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });

  function watch(present: boolean) {
    const page = new FakeWindow(present);
    const told: boolean[] = [];
    const stop = watchArming(page, (armed) => told.push(armed));
    return { page, stop, told, armed: () => told.at(-1) };
  }

  test("arm once the page was in front for long enough, and not a moment earlier", () => {
    const { armed } = watch(true);
    vi.advanceTimersByTime(ARMING_MS - 1);
    expect(armed()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(armed()).toBe(true);
  });

  test("never arm in a window that nobody looks at", () => {
    const { armed } = watch(false);
    vi.advanceTimersByTime(60_000);
    expect(armed()).toBe(false);
  });

  test("disarm at once when the focus goes, and wait again in full when it comes back", () => {
    const { page, armed } = watch(true);
    vi.advanceTimersByTime(ARMING_MS);
    page.become(false);
    expect(armed()).toBe(false);
    page.become(true);
    vi.advanceTimersByTime(ARMING_MS - 1);
    expect(armed()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(armed()).toBe(true);
  });

  test("do not add up moments of attention", () => {
    const { page, told } = watch(true);
    for (let glance = 0; glance < 10; glance += 1) {
      vi.advanceTimersByTime(ARMING_MS - 100);
      page.become(false);
      page.become(true);
    }
    expect(told).not.toContain(true);
  });

  test("tell nobody any more once they are gone", () => {
    const { stop, told } = watch(true);
    stop();
    vi.advanceTimersByTime(60_000);
    expect(told).toEqual([false]);
  });
});
