import { type RefObject, startTransition, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

/** Entries of a long conversation that are drawn at once: the end of it, which fills more than a tall screen. */
const FIRST = 40;
/** Further ones that are drawn together, above those that are there. */
const PIECE = 40;
/** As many new entries at a time are a conversation that was opened. What a turn adds is drawn as it comes. */
const OPENED = 2 * FIRST;

export interface Drawn {
  /** How many of the oldest entries are not drawn yet. */
  readonly undrawn: number;
  /** Draw a piece of them, where a reader comes near. */
  readonly drawMore: () => void;
  /** Draw all of them before anything else happens, for what needs the whole: the way to its beginning, a search, paper. */
  readonly drawAll: () => void;
}

/**
 * Which entries of a log are drawn. Of a long one the end comes at once, and the older ones follow while the page has nothing better to
 * do, so that the browser's search and a screen reader come to have all of them. `needed` is the place of one that has to be there.
 */
export function useDrawn(count: number, needed: number, whenIdle: (work: () => void) => void): Drawn {
  const [state, setState] = useState({ count: 0, undrawn: 0 });
  const isOpened = count - state.count > OPENED;
  const left = Math.min(isOpened ? count - FIRST : state.undrawn, Math.max(0, count - FIRST));
  const undrawn = needed < 0 ? left : Math.min(left, Math.max(0, needed - FIRST));
  if (count !== state.count || undrawn !== state.undrawn) setState({ count, undrawn });
  const drawMore = useCallback(() => setState((before) => ({ ...before, undrawn: pieceLess(before.undrawn) })), []);
  const drawAll = useCallback(() => {
    flushSync(() => setState((before) => ({ ...before, undrawn: 0 })));
  }, []);
  const isWhole = undrawn === 0;
  useEffect(() => {
    if (undrawn === 0) return;
    let isOver = false;
    whenIdle(() => {
      if (!isOver) startTransition(drawMore);
    });
    return () => {
      isOver = true;
    };
  }, [undrawn, whenIdle, drawMore]);
  useEffect(() => {
    if (isWhole) return;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "f") drawAll();
    };
    window.addEventListener("keydown", onKey);
    window.addEventListener("beforeprint", drawAll);
    return () => {
      window.removeEventListener("keydown", onKey);
      window.removeEventListener("beforeprint", drawAll);
    };
  }, [isWhole, drawAll]);
  return { undrawn, drawMore, drawAll };
}

function pieceLess(undrawn: number): number {
  return Math.max(0, undrawn - PIECE);
}

/**
 * Leaves what is read where it is when something is drawn above it. Browsers do that themselves, but not at the very top and not all of
 * them, so it is done here and the browser's way is off, until the frame in which the last piece came is over.
 */
export function useKeptPlace(
  scroller: RefObject<HTMLElement | null>,
  column: RefObject<HTMLElement | null>,
  isGrowing: boolean,
): void {
  const first = useRef<Element | null>(null);
  useLayoutEffect(() => {
    const before = first.current;
    const now = column.current?.firstElementChild ?? null;
    first.current = now;
    if (scroller.current === null || before === null || now === null || before === now || !before.isConnected) return;
    scroller.current.scrollTop += before.getBoundingClientRect().top - now.getBoundingClientRect().top;
  });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!isGrowing || element === null) return;
    element.style.overflowAnchor = "none";
    return () => {
      requestAnimationFrame(() => requestAnimationFrame(() => element.style.removeProperty("overflow-anchor")));
    };
  }, [isGrowing, scroller]);
}
