/** Epoch milliseconds of what programs write down as a time: seconds since 1970, milliseconds, or a date in ISO 8601. */
export function momentOf(value: unknown): number | null {
  if (typeof value === "string") {
    const moment = Date.parse(value);
    return Number.isNaN(moment) ? null : moment;
  }
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  return Math.round(value > 1e11 ? value : value * 1000);
}

/** The way from the last message of a tree back to its first, oldest first. A tree that runs in a circle is cut there. */
export function pathTo<Node>(
  last: string,
  find: (id: string) => Node | null,
  parentOf: (node: Node) => unknown,
): Node[] {
  const path: Node[] = [];
  const seen = new Set<string>();
  let id: unknown = last;
  while (typeof id === "string" && !seen.has(id)) {
    seen.add(id);
    const node = find(id);
    if (node === null) break;
    path.push(node);
    id = parentOf(node);
  }
  return path.reverse();
}

/** A member of an object that came from a file; what only its prototype has is none. */
export function ownMember(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
