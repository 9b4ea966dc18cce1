import { useCallback, useEffect, useRef, useState } from "react";

/** A view that somebody gave a name: its address on this console. */
export interface SavedView {
  readonly name: string;
  /** What stands behind the path: empty, or from `?` on. */
  readonly search: string;
}

const KEY = "audit-views";
const MOST = 30;
const LONGEST_NAME = 60;
const LONGEST_SEARCH = 2_000;

/** The views that this browser keeps. An auditor may write nothing on the gateway, so nobody's are kept there. */
export function useSavedViews() {
  const [views, setViews] = useState(readViews);
  const stored = useRef(true);
  useEffect(() => {
    // It has no key where everything that the browser keeps was cleared.
    const follow = ({ key }: StorageEvent) => {
      if (key === KEY || key === null) setViews(readViews());
    };
    window.addEventListener("storage", follow);
    return () => window.removeEventListener("storage", follow);
  }, []);
  const change = useCallback(
    (changed: (before: readonly SavedView[]) => readonly SavedView[]) => {
      // Another tab may have saved one a moment ago.
      const next = changed(stored.current ? readViews() : views);
      setViews(next);
      try {
        localStorage.setItem(KEY, JSON.stringify(next));
      } catch {
        // A browser that keeps nothing: they last as long as the page.
        stored.current = false;
      }
    },
    [views],
  );
  const save = useCallback(
    (name: string, search: string) => {
      const view = { name: name.trim().slice(0, LONGEST_NAME), search };
      change((before) => [view, ...before.filter((each) => each.name !== view.name)].slice(0, MOST));
    },
    [change],
  );
  const remove = useCallback(
    (name: string) => change((before) => before.filter((each) => each.name !== name)),
    [change],
  );
  const rename = useCallback(
    (name: string, wanted: string) => {
      const next = wanted.trim().slice(0, LONGEST_NAME);
      // Another tab may have given that name to a view by now, which is not to be lost for it.
      change((before) =>
        before.some((each) => each.name === next)
          ? before
          : before.map((each) => (each.name === name ? { ...each, name: next } : each)),
      );
    },
    [change],
  );
  return { views, save, remove, rename };
}

/** What is stored, as far as it can be read. */
export function readViews(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isView).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  const view = value as Partial<SavedView> | null;
  return (
    typeof view?.name === "string" &&
    view.name !== "" &&
    view.name.length <= LONGEST_NAME &&
    typeof view.search === "string" &&
    view.search.length <= LONGEST_SEARCH &&
    (view.search === "" || view.search.startsWith("?"))
  );
}
