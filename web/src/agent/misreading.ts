import type { ResultSource } from "./figures.ts";
import { linesOf } from "./passages.ts";
import { termsIn } from "./ranking.ts";
import { vocabulary } from "./vocabulary.ts";

/*
 * An answer out of another row than the question speaks of: "who has the key to the greenhouse?" answered with the one who has that
 * of the shed. A small model mixes rows up; where each line stands for itself, code can tell.
 */

/** A line that stands for itself: a label, and what belongs to it. */
const RECORD = /^([^:]{1,40}): +[^ ].*$/;
/** Rows without which there is nothing to mix up. */
const LEAST = 2;
const LIGHT: ReadonlySet<string> = new Set(
  [...vocabulary.lightWords, ...vocabulary.askingWords, ...vocabulary.commonTerms].flatMap(termsIn),
);

/** Whether all that an answer adds to a question stands in other rows than the one that the question speaks of. */
export function misreadsRow(answer: string, question: string, source: ResultSource): boolean {
  const rows = rowsOf(source);
  const asked = new Set(termsIn(question));
  const held = rows.map(
    ({ label }) => new Set(termsIn(label).filter((term) => asked.has(term) && !LIGHT.has(term))).size,
  );
  const most = Math.max(0, ...held);
  const meant = rows[held.indexOf(most)];
  if (meant === undefined || rows.length < LEAST || most === 0 || held.filter((count) => count === most).length > 1)
    return false;
  const added = termsIn(answer).filter((term) => !(asked.has(term) || LIGHT.has(term)));
  const own = new Set(termsIn(meant.text));
  const all = new Set(rows.flatMap(({ text }) => termsIn(text)));
  return !added.some((term) => own.has(term)) && added.some((term) => all.has(term));
}

interface Row {
  /** By what it is known. */
  readonly label: string;
  readonly text: string;
}

/** The rows of a file in which each line stands for itself; none of any other. */
function rowsOf({ text, name, hasLines }: ResultSource): Row[] {
  if (!hasLines) return [];
  const lines = linesOf(text).filter((line) => line.trim() !== "");
  if (/\.(?:csv|tsv)$/i.test(name)) return lines.slice(1).map((line) => ({ label: line, text: line }));
  const records = lines.flatMap((line) => {
    const label = RECORD.exec(line)?.[1];
    return label === undefined ? [] : [{ label, text: line }];
  });
  return records.length === lines.length ? records : [];
}
