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

/** Epoch milliseconds, rounded down to the second, renewed each second. */
export function useSecond(): number {
  return useSyncExternalStore(everySecond.subscribe, () => Math.floor(Date.now() / 1_000) * 1_000);
}

/** Epoch milliseconds, rounded down to the half minute, renewed that often. */
export function useHalfMinute(): number {
  return useSyncExternalStore(everyHalfMinute.subscribe, () => Math.floor(Date.now() / 30_000) * 30_000);
}
