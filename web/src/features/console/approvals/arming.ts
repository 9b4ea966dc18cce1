import { useEffect, useState } from "react";

/** A person needs about this long to see a page before a click on it can be meant for it; browsers wait as long for permission prompts. */
export const ARMING_MS = 600;

/** Whether a person can be looking at the page, and a way to hear when that may have changed. */
export interface Attention {
  isPresent(): boolean;
  onChange(listener: () => void): () => void;
}

/**
 * Calls `tell(true)` once somebody was continuously present for `ARMING_MS`, and `tell(false)` as soon as they are not.
 * A click or key that was meant for whatever was here a moment ago therefore decides nothing (security case 35).
 */
export function watchArming(attention: Attention, tell: (armed: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restart = () => {
    clearTimeout(timer);
    tell(false);
    if (attention.isPresent()) timer = setTimeout(() => tell(true), ARMING_MS);
  };
  restart();
  const stop = attention.onChange(restart);
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** The page itself: visible, and its window the one that has the keyboard. */
export const pageAttention: Attention = {
  isPresent: () => document.visibilityState === "visible" && document.hasFocus(),
  onChange: (listener) => {
    document.addEventListener("visibilitychange", listener);
    window.addEventListener("focus", listener);
    window.addEventListener("blur", listener);
    return () => {
      document.removeEventListener("visibilitychange", listener);
      window.removeEventListener("focus", listener);
      window.removeEventListener("blur", listener);
    };
  },
};

/** Whether decision buttons may act. A new `subject` starts the wait again: it is another question. */
export function useArmed(subject: string): boolean {
  const [armedFor, setArmedFor] = useState<string | null>(null);
  useEffect(() => watchArming(pageAttention, (armed) => setArmedFor(armed ? subject : null)), [subject]);
  return armedFor === subject;
}
