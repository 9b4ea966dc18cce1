import { useEffect, useRef, useSyncExternalStore } from "react";

/** What a key does, by the character that it types. */
export type Shortcuts = Readonly<Record<string, () => void>>;

const KEY = "single-key-shortcuts";
const listeners = new Set<() => void>();

/** Whether keys of one character act. They can be turned off: whoever speaks to a computer types them unawares (WCAG 2.1.4). */
export function areShortcutsOn(): boolean {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

export function turnShortcuts(on: boolean): void {
  try {
    if (on) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, "off");
  } catch {
    // A browser that keeps nothing: they stay on.
  }
  for (const each of listeners) each();
}

export function useShortcutsOn(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, areShortcutsOn);
}

/** Has keys of one character act while this is on the page: not while somebody types, not in a dialog, not by holding a key down. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  useEffect(() => {
    current.current = shortcuts;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = current.current[event.key];
      if (act === undefined || !isMeant(event) || !areShortcutsOn()) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

function isMeant(event: KeyboardEvent): boolean {
  if (event.repeat || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
    return false;
  if (document.querySelector("dialog[open]") !== null) return false;
  const target = event.target instanceof Element ? event.target : document.body;
  const select = target.closest("select");
  if (select !== null) return !isTypedAt(select, event.key);
  return target.closest("input, textarea, [contenteditable]") === null;
}

/** Whether a choice begins with that letter: then the list goes to it. Else the keyboard would be lost to a list that was used. */
function isTypedAt(select: HTMLSelectElement, letter: string): boolean {
  return [...select.options].some(({ label }) => label.trimStart().toLowerCase().startsWith(letter.toLowerCase()));
}

/** Moves the keyboard among the elements that have this attribute, and stays at the ends. */
export function step(attribute: string, by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>(`[${attribute}]`)];
  const here = all.indexOf(document.activeElement as HTMLElement);
  const next = here < 0 ? (by > 0 ? 0 : all.length - 1) : here + by;
  all[Math.min(Math.max(next, 0), all.length - 1)]?.focus();
}
