import { type RefObject, useEffect, useRef } from "react";

/**
 * F6 moves between the parts of the page, Shift+F6 back, as in desktop programs: a keyboard needs a way past a long log.
 * Every element with `data-pane` is a part; focus goes to its first `data-pane-focus`, or to itself.
 */
export function usePanes(root: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "F6" || root.current === null) return;
      const panes = [...root.current.querySelectorAll<HTMLElement>("[data-pane]")].filter((pane) =>
        pane.checkVisibility(),
      );
      if (panes.length === 0) return;
      event.preventDefault();
      const here = panes.findIndex((pane) => pane.contains(document.activeElement));
      const step = event.shiftKey ? -1 : 1;
      const next = panes[(here + step + panes.length) % panes.length];
      (next?.querySelector<HTMLElement>("[data-pane-focus]") ?? next)?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [root]);
}

/**
 * Keeps the keyboard on the page: what had the focus may go away with what it was for, a stop button or a question, and the
 * browser would start again at the top. Where touching would bring a keyboard up over the page, the log takes the focus.
 */
export function useKeptFocus(root: RefObject<HTMLElement | null>): void {
  const held = useRef<Element | null>(null);
  useEffect(() => {
    const hold = () => {
      held.current = document.activeElement;
    };
    document.addEventListener("focusin", hold);
    return () => document.removeEventListener("focusin", hold);
  }, []);
  useEffect(() => {
    const page = root.current;
    if (page === null) return;
    // Any part of the page may take something away by itself, and nothing tells the others.
    const observer = new MutationObserver(() => {
      if (held.current === null || held.current.isConnected || document.activeElement !== document.body) return;
      held.current = null;
      const pane = window.matchMedia("(pointer: fine)").matches ? "composer" : "log";
      const place = page.querySelector<HTMLElement>(`[data-pane="${pane}"]`);
      (place?.querySelector<HTMLElement>("[data-pane-focus]") ?? place)?.focus();
    });
    observer.observe(page, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [root]);
}
