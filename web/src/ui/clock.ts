import { useSyncExternalStore } from "react";

interface Ticker {
  readonly subscribe: (listener: () => void) => () => void;
}

/** One timer for everything on the page that follows the time, and none while nothing does. */
function createTicker(everyMs: number): Ticker {
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      timer ??= setInterval(() => {
        for (const each of listeners) each();
      }, everyMs);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

const everySecond = createTicker(1_000);
const everyHalfMinute = createTicker(30_000);

/** By how much the gateway's clock is ahead of this device's. */
let aheadMs = 0;

/**
 * Go by the gateway's clock from now on: by its, things expire, and a device's may be minutes off. `at` is what it said in an
 * answer that was asked for and came at these moments of the device's own clock, in epoch milliseconds.
 */
export function setClock(at: string, asked: number, came: number): void {
  const said = Date.parse(at);
  if (!Number.isNaN(said)) aheadMs = said - (asked + came) / 2;
}

/** Epoch milliseconds by the gateway's clock, once it has said what that shows. */
export function now(): number {
  return Date.now() + aheadMs;
}

/** The same, rounded down to the second, renewed each second. */
export function useSecond(): number {
  return useSyncExternalStore(everySecond.subscribe, () => Math.floor(now() / 1_000) * 1_000);
}

/** The same, rounded down to the half minute, renewed that often. */
export function useHalfMinute(): number {
  return useSyncExternalStore(everyHalfMinute.subscribe, () => Math.floor(now() / 30_000) * 30_000);
}
