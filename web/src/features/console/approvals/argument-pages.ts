/** One value of a call, or a part of a long text; `steps` are the names and places that lead to it. */
export interface ArgumentRow {
  readonly steps: readonly string[];
  readonly value: unknown;
  /** Which part of how many this is of a text that stands on several pages. */
  readonly part?: { readonly number: number; readonly of: number };
}

/** Lines that a page holds, and characters that count as one: about what a small screen shows at once. */
const LINES = 24;
const CHARACTERS = 80;

/** Lines of a part of a long text: what it is about, the path of a file for instance, finds room on the same page. */
const PART = 20;

/**
 * The arguments of a call, whole and in the author's order, on pages that a person can see at a glance. Nothing is folded and no
 * level is left out: what is nested stands in a row of its own, with the way to it.
 */
export function argumentPages(
  order: readonly string[],
  members: Readonly<Record<string, unknown>>,
): readonly (readonly ArgumentRow[])[] {
  const names = new Set([...order.filter((name) => Object.hasOwn(members, name)), ...Object.keys(members)]);
  const rows = [...names].flatMap((name) => rowsOf([name], members[name]));
  const pages: ArgumentRow[][] = [[]];
  let room = LINES;
  for (const row of rows) {
    const lines = linesOf(row.value);
    if (lines > room && pages.at(-1)?.length) {
      pages.push([]);
      room = LINES;
    }
    pages.at(-1)?.push(row);
    room -= lines;
  }
  return pages;
}

function rowsOf(steps: readonly string[], value: unknown): ArgumentRow[] {
  if (typeof value === "string") {
    const parts = partsOf(value);
    if (parts.length === 1) return [{ steps, value }];
    return parts.map((part, index) => ({ steps, value: part, part: { number: index + 1, of: parts.length } }));
  }
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (inner.length === 0) return [{ steps, value }];
  const name = (key: string) => (Array.isArray(value) ? String(Number(key) + 1) : key);
  return inner.flatMap(([key, item]) => rowsOf([...steps, name(key)], item));
}

/** A text in pieces of at most a page; a piece ends with a line where that is near enough. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  let room = PART * CHARACTERS;
  for (const line of text.split(/(?<=\n)/)) {
    for (const piece of chunks([...line])) {
      const cost = Math.max(CHARACTERS, piece.length);
      if (cost > room && part !== "") {
        parts.push(part);
        part = "";
        room = PART * CHARACTERS;
      }
      part += piece.join("");
      room -= Math.ceil(cost / CHARACTERS) * CHARACTERS;
    }
  }
  return [...parts, part];
}

function chunks(characters: readonly string[]): readonly (readonly string[])[] {
  const most = PART * CHARACTERS;
  const count = Math.ceil(characters.length / most);
  return Array.from({ length: count }, (_, index) => characters.slice(index * most, (index + 1) * most));
}

function linesOf(value: unknown): number {
  if (typeof value !== "string") return 1;
  return value
    .split("\n")
    .map((line) => Math.max(1, Math.ceil([...line].length / CHARACTERS)))
    .reduce((sum, lines) => sum + lines, 0);
}
