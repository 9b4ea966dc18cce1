import { copy } from "./copy.ts";
import { entriesOf, rowLabel } from "./entries.ts";
import { cited, excerptOf } from "./excerpts.ts";
import { exclusionIn, keptRows } from "./exclusions.ts";
import { asksForFigure, type ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { boxedIn, entriesAsked } from "./open-entries.ts";
import { pickedFrom } from "./picking.ts";
import type { TableRow } from "./tables.ts";
import { timedRows } from "./timed.ts";

/* What the loop itself answers where rows of a file are asked for: by what they are not, or by when they are. */

/** The rows that a wish asks for, with where they stand; null where it asks for something else, or of a part of a file. */
export function answerRows(wish: string, source: ResultSource, today: string): string | null {
  const { name, text, whole, hasLines } = source;
  if (asksForFigure(wish) || pickedFrom(wish) !== null || !whole || !hasLines) return null;
  const entries = entriesAsked(wish, text);
  const noEntry = `${fill(copy.noneLeft, () => `${boxedIn(text).length}`)} ${cited(name)}`;
  if (entries !== null) return entries.length > 0 ? told(entries, name) : noEntry;
  const exclusion = exclusionIn(wish);
  const table = entriesOf(text, name);
  if (exclusion !== null && table !== null) {
    const rows = keptRows(exclusion, text, name, table);
    if (rows === null) return `${copy.notTold} ${cited(name)}:\n\n${excerptOf(text).text}`;
    return rows.length > 0 ? told(rows, name) : `${fill(copy.noneLeft, () => `${table.rows.length}`)} ${cited(name)}`;
  }
  const timed = exclusion === null ? timedRows(wish, text, name, today) : null;
  if (timed === null) return null;
  const none = fill(timed.when === "last" ? copy.noneBehind : copy.noneAhead, () => today);
  return timed.rows.length > 0 ? told(timed.rows, name) : `${none} ${cited(name)}`;
}

function told(rows: readonly TableRow[], name: string): string {
  const lines = rows.flatMap(({ line }) => (line === null ? [] : [line]));
  const noun = rows.length === 1 ? copy.entryOne : copy.entryMany;
  const said = fill(copy.counted, (key) => (key === "count" ? `${rows.length}` : noun));
  const { text, leftOut } = excerptOf(rows.map(rowLabel).join("\n"));
  const rest = leftOut === 0 ? "" : `\n${fill(copy.leftOut, () => `${leftOut}`)}`;
  return `${said} ${cited(name, lines)}:\n\n${text}${rest}`;
}
