import { beforeEach, describe, expect, test, vi } from "vitest";
import { ACTIVATION_DELAY_MS, watchFocus } from "../../../src/features/console/approvals/activation-delay.ts";

/** A window that a test brings to the front and takes away. */
class FakeWindow {
  present: boolean;
  #listener: () => void = () => {};

  constructor(present: boolean) {
    this.present = present;
  }

  isFocused = () => this.present;

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

describe("decision buttons (docs/SECURITY.md case 35)", () => {
  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });

  function watch(present: boolean) {
    const page = new FakeWindow(present);
    const changes: boolean[] = [];
    const stop = watchFocus(page, (activated) => changes.push(activated));
    return { page, stop, changes, activated: () => changes.at(-1) };
  }

  test("wait as long as browsers do before a permission prompt can be answered", () => {
    expect(ACTIVATION_DELAY_MS).toBeGreaterThanOrEqual(600);
  });

  test("become active once the window had the focus for long enough, and not earlier", () => {
    const { activated } = watch(true);
    vi.advanceTimersByTime(ACTIVATION_DELAY_MS - 1);
    expect(activated()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(activated()).toBe(true);
  });

  test("never become active in a window without the focus", () => {
    const { activated } = watch(false);
    vi.advanceTimersByTime(60_000);
    expect(activated()).toBe(false);
  });

  test("become inactive at once when the focus goes, and wait again in full when it comes back", () => {
    const { page, activated } = watch(true);
    vi.advanceTimersByTime(ACTIVATION_DELAY_MS);
    page.become(false);
    expect(activated()).toBe(false);
    page.become(true);
    vi.advanceTimersByTime(ACTIVATION_DELAY_MS - 1);
    expect(activated()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(activated()).toBe(true);
  });

  test("do not add up short moments of focus", () => {
    const { page, changes } = watch(true);
    for (let glance = 0; glance < 10; glance += 1) {
      vi.advanceTimersByTime(ACTIVATION_DELAY_MS - 100);
      page.become(false);
      page.become(true);
    }
    expect(changes).not.toContain(true);
  });

  test("report nothing any more once they are gone", () => {
    const { stop, changes } = watch(true);
    stop();
    vi.advanceTimersByTime(60_000);
    expect(changes).toEqual([false]);
  });
});
