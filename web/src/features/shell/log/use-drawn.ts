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
  /** How many of the newest are not: where a message far above the end was looked for, what stands around it comes first. */
  readonly rest: number;
  /** Draw a piece of the older ones, where a reader comes near. */
  readonly drawMore: () => void;
  /** The same for the newer ones. */
  readonly drawMoreBelow: () => void;
  /** Draw the end, in the place of what is drawn where that is far from it. */
  readonly drawEnd: () => void;
  /** Draw all of them before anything else happens, for what needs the whole: the way to its beginning, a search, paper. */
  readonly drawAll: () => void;
}

interface Part {
  readonly undrawn: number;
  readonly rest: number;
}

const WHOLE: Part = { undrawn: 0, rest: 0 };

/**
 * Which entries of a log are drawn. Of a long one the end comes at once, and the others follow while the page has nothing better to do,
 * so that the browser's search and a screen reader come to have all of them. `needed` is the place of one that has to be there.
 */
export function useDrawn(count: number, needed: number, whenIdle: (work: () => void) => void): Drawn {
  const [state, setState] = useState({ count: 0, needed: -1, ...WHOLE });
  const part = around(grown(state, count), count, needed === state.needed ? -1 : needed);
  const { undrawn, rest } = part;
  if (count !== state.count || needed !== state.needed || undrawn !== state.undrawn || rest !== state.rest)
    setState({ count, needed, ...part });
  const drawMore = useCallback(() => setState((before) => ({ ...before, undrawn: pieceLess(before.undrawn) })), []);
  const drawMoreBelow = useCallback(() => setState((before) => ({ ...before, rest: pieceLess(before.rest) })), []);
  const drawEnd = useCallback(
    () => setState((before) => (before.rest === 0 ? before : { ...before, ...endOf(before.count) })),
    [],
  );
  const drawAll = useCallback(() => {
    flushSync(() => setState((before) => ({ ...before, ...WHOLE })));
  }, []);
  const isWhole = undrawn + rest === 0;
  useEffect(() => {
    if (undrawn + rest === 0) return;
    let isOver = false;
    whenIdle(() => {
      if (!isOver) startTransition(rest > 0 ? drawMoreBelow : drawMore);
    });
    return () => {
      isOver = true;
    };
  }, [undrawn, rest, whenIdle, drawMore, drawMoreBelow]);
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
  return { undrawn, rest, drawMore, drawMoreBelow, drawEnd, drawAll };
}

/** What is drawn once there are so many entries: of a conversation that was opened its end, and else what was there and what is new. */
function grown(before: Part & { readonly count: number }, count: number): Part {
  const added = count - before.count;
  if (added > OPENED) return endOf(count);
  const undrawn = Math.min(before.undrawn, endOf(count).undrawn);
  return { undrawn, rest: before.rest === 0 ? 0 : Math.max(0, before.rest + added) };
}

function endOf(count: number): Part {
  return { undrawn: Math.max(0, count - FIRST), rest: 0 };
}

/** The same with the entry at `needed` among it. Where that is far from what is drawn, only what stands around it is. */
function around({ undrawn, rest }: Part, count: number, needed: number): Part {
  const isAbove = needed >= 0 && needed < undrawn;
  const isBelow = needed >= count - rest;
  if (!isAbove && !isBelow) return { undrawn, rest };
  const top = Math.max(0, needed - FIRST);
  if (isAbove && undrawn - needed < OPENED) return { undrawn: top, rest };
  return { undrawn: top, rest: Math.max(0, count - needed - FIRST) };
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
