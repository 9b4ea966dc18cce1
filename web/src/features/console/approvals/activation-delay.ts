import { useEffect, useState } from "react";

/** A person needs about this long to see a page before a click on it can be meant for it. Permission prompts of browsers wait as long. */
export const ACTIVATION_DELAY_MS = 600;

/** Whether the window has the focus, so that a person can be looking at it, and a way to hear of changes. */
export interface FocusSource {
  isFocused(): boolean;
  onChange(listener: () => void): () => void;
}

/**
 * Calls `onChange(true)` once the window had the focus for `ACTIVATION_DELAY_MS` without a break, and `onChange(false)` as soon as it
 * has not. A click or key that was meant for what was on screen a moment ago therefore decides nothing (docs/SECURITY.md case 35).
 */
export function watchFocus(source: FocusSource, onChange: (activated: boolean) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restart = () => {
    clearTimeout(timer);
    onChange(false);
    if (source.isFocused()) timer = setTimeout(() => onChange(true), ACTIVATION_DELAY_MS);
  };
  restart();
  const stop = source.onChange(restart);
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** The page itself: visible, and its window the one that has the keyboard. */
export const pageFocus: FocusSource = {
  isFocused: () => document.visibilityState === "visible" && document.hasFocus(),
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
export function useActivated(subject: string): boolean {
  const [activatedFor, setActivatedFor] = useState<string | null>(null);
  useEffect(() => watchFocus(pageFocus, (activated) => setActivatedFor(activated ? subject : null)), [subject]);
  return activatedFor === subject;
}
