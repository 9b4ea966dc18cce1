import { type RefObject, useLayoutEffect, useMemo, useState } from "react";
import type { Entry } from "../../../agent/conversation.ts";
import { entriesWith, entryAt, type SoughtPlace, wordPattern } from "../message-search.ts";

export interface SearchHits {
  /** The entry to be shown now; none where nothing was looked for, or what was found has been left. */
  readonly sought: Entry | undefined;
  /** Whether the person went there from another one that was found: the keyboard then stays at the way on. */
  readonly wasStepped: boolean;
  readonly words: readonly string[];
  /** Every entry with the words, oldest first. */
  readonly hits: readonly Entry[];
  readonly goTo: (entry: Entry) => void;
  readonly leave: () => void;
}

/** What a search has found in this conversation: first the message that was chosen, then each other one with the words. */
export function useFound(entries: readonly Entry[], place: SoughtPlace | null): SearchHits {
  const [step, setStep] = useState<{ readonly of: SoughtPlace | null; readonly key: string | null } | null>(null);
  const stepped = step?.of === place ? step : null;
  const isLeft = place === null || stepped?.key === null;
  const hits = useMemo(() => (isLeft ? [] : entriesWith(entries, place.words)), [isLeft, entries, place]);
  const chosen = stepped === null ? undefined : hits.find(({ key }) => key === stepped.key);
  return {
    sought: isLeft ? undefined : (chosen ?? entryAt(entries, place)),
    wasStepped: stepped !== null,
    words: isLeft ? [] : place.words,
    hits,
    goTo: ({ key }) => setStep({ of: place, key }),
    leave: () => setStep({ of: place, key: null }),
  };
}

const NAME = "found";

/**
 * Marks words in the messages that are drawn, and in what is drawn later: an older message, or the rest of a long one. It paints
 * over them, so what stands there stays as it was made.
 */
export function useMarkedWords(root: RefObject<Element | null>, words: readonly string[]): void {
  const sought = words.join(" ");
  useLayoutEffect(() => {
    const highlights = globalThis.CSS?.highlights;
    const element = root.current;
    if (highlights === undefined || element === null || sought === "") return;
    const pattern = wordPattern(sought.split(" "));
    const mark = () => highlights.set(NAME, new Highlight(...rangesOf(element, pattern)));
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    return () => {
      observer.disconnect();
      highlights.delete(NAME);
    };
  }, [root, sought]);
}

function rangesOf(root: Element, pattern: RegExp): Range[] {
  const ranges: Range[] = [];
  for (const message of root.querySelectorAll("[data-entry]")) {
    const texts = document.createTreeWalker(message, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
      for (const { index, 0: word } of (node.nodeValue ?? "").matchAll(pattern)) {
        const range = new Range();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        ranges.push(range);
      }
  }
  return ranges;
}
