import limits from "../../../loop/limits.json" with { type: "json" };
import { cut } from "./budget.ts";
import { linesOf } from "./passages.ts";

/* A result as the person is shown it in an answer: as it stands, whole or its beginning. */

const MOST_LINES = limits.excerptLines;
const MOST_CHARACTERS = limits.excerptCharacters;

/** A text to show, and how many of its lines are left out. */
interface Excerpt {
  readonly text: string;
  readonly leftOut: number;
}

/** The text, or its first lines where it is long. A line that is too long by itself is cut, and says so. */
export function excerptOf(text: string): Excerpt {
  const lines = linesOf(text);
  const kept = cut(lines.slice(0, MOST_LINES).join("\n"), MOST_CHARACTERS);
  return { text: fenced(kept), leftOut: Math.max(0, lines.length - MOST_LINES) };
}

/** The text as a block of Markdown that nothing in it can end. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((found) => found.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** Where something stands: "(`costs.csv`, lines 2–3, column `amount`)". `lines` count from 1 and are in order. */
export function cited(name: string, lines: readonly number[] = [], column = ""): string {
  const parts = [inline(name)];
  if (lines.length > 0) parts.push(`${lines.length === 1 ? "line" : "lines"} ${ranges(lines)}`);
  if (column !== "") parts.push(`column ${inline(column)}`);
  return `(${parts.join(", ")})`;
}

/** Some lines of a text as a block, each after its number. */
export function numbered(lines: readonly string[], places: readonly number[]): string {
  return fenced(cut(places.map((place) => `${place}: ${lines[place - 1]}`).join("\n"), MOST_CHARACTERS));
}

function inline(text: string): string {
  return `\`${text.replaceAll(/[`\s]+/g, " ").trim()}\``;
}

/** Numbers in order, those in a row as one range. */
function ranges(lines: readonly number[]): string {
  const found: { first: number; last: number }[] = [];
  for (const line of lines) {
    const latest = found.at(-1);
    if (latest?.last === line - 1) latest.last = line;
    else found.push({ first: line, last: line });
  }
  return found.map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}
