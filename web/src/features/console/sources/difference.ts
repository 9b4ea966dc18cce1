/** A line of a comparison: in both texts, only in the old one, or only in the new one. */
export interface ComparedLine {
  readonly mark: "same" | "removed" | "added";
  readonly text: string;
}

/** A member of a definition that is not what it was. A member that is missing on one side is `absent` there. */
export interface ChangedMember {
  readonly name: string;
  readonly lines: readonly ComparedLine[];
}

/** Cells of the table that is filled to compare two texts; above that, all of the old and all of the new is shown. */
const MOST_CELLS = 1_000_000;

/** Member by member, what differs between two definitions. Members that are equal are left out. */
export function compareDefinitions(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly ChangedMember[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => write(before[name]) !== write(after[name]) || typeof before[name] !== typeof after[name])
    .map((name) => ({ name, lines: compareLines(linesOf(before[name]), linesOf(after[name])) }));
}

/** The fewest lines that make `after` of `before`, in order. */
export function compareLines(before: readonly string[], after: readonly string[]): readonly ComparedLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const rest = Math.min(before.length, after.length) - start;
  while (end < rest && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]) => lines.map((text) => ({ mark: "same", text }) as const);
  return [
    ...same(before.slice(0, start)),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** By the longest common subsequence. */
function compareMiddle(before: readonly string[], after: readonly string[]): readonly ComparedLine[] {
  const removed = (text: string): ComparedLine => ({ mark: "removed", text });
  const added = (text: string): ComparedLine => ({ mark: "added", text });
  const width = after.length + 1;
  if (before.length * after.length > MOST_CELLS) return [...before.map(removed), ...after.map(added)];
  const longest = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: ComparedLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [old, now] = [before[i], after[j]];
    if (old !== undefined && old === now) {
      lines.push({ mark: "same", text: old });
      i += 1;
      j += 1;
    } else if (old !== undefined && (now === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(old));
      i += 1;
    } else if (now !== undefined) {
      lines.push(added(now));
      j += 1;
    }
  }
  return lines;
}

/** A text as its lines, anything else as JSON with sorted members, so that their order is no difference. */
function linesOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  return write(value).split("\n");
}

function write(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(sorted(value), null, 2) ?? "");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
