/** Under which digest this browser was added, so that it finds its place again when its subscription has become another. */
const KEY = "countersign.push";

/** Null where it was not added, or keeps nothing. */
export function addedHere(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** Keep the digest; null forgets it. */
export function keepAdded(digest: string | null): void {
  try {
    if (digest === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, digest);
  } catch {
    // Then a subscription that changes by itself has to be added by the person.
  }
}
