import { isThing } from "./acts.ts";
import { aroundEntries, isTicked, type Terms, telling, termsOf } from "./entries.ts";
import { stem, termsIn } from "./ranking.ts";
import type { Table, TableRow } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * Rows that are asked for by what they are not: "which customers have not paid?", "everyone except the treasurer". A small model
 * reads such a question as if the "not" were not there. Of a table or a list, code tells its rows apart.
 */

const NOT: Terms = new Set([
  "not",
  "never",
  ...vocabulary.contractedVerbs.flatMap((verb) => ["'", "’", ""].map((mark) => `${verb}n${mark}t`)),
]);
const EXCEPT: Terms = new Set(vocabulary.exceptingWords);
const NEGATED: ReadonlyMap<string, string> = new Map(Object.entries(vocabulary.negatedWords));
const UNASKED: Terms = new Set([...vocabulary.yesNoWords, ...vocabulary.modals, "why"]);
const NOUN_LEADS: Terms = new Set(vocabulary.nounLeads);
const STOPPED = /[.?!:,]["'`)]*$/;
const YES: Terms = new Set(vocabulary.yesMarks);
const NO: Terms = new Set(vocabulary.noMarks);
const DONE: Terms = new Set(vocabulary.doneWords.map(stem));
const DATED = /^[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}$/;

/**
 * What a wish leaves out: a row that holds all terms of one of the `groups`. The `others` are terms that a row has to hold, `nouns`
 * such as only name what is asked for, and `rest` is the wish without what it leaves out.
 */
export interface Exclusion {
  readonly groups: readonly Terms[];
  readonly others: Terms;
  readonly nouns: Terms;
  readonly rest: string;
}

/** What a wish for some rows leaves out by its words; null for any other wish. */
export function exclusionIn(wish: string): Exclusion | null {
  const words = wordsOf(wish);
  const bare = words.map((word) => word.bare);
  const opener = bare.find((word) => !vocabulary.fillers.includes(word)) ?? "";
  const isAmount = bare.includes("many") || bare.includes("much");
  if (UNASKED.has(opener) || (opener === "how" && !isAmount)) return null;
  const [groups, others, nouns, rest]: [Set<string>[], Set<string>, Set<string>, string[]] = [
    [new Set()],
    new Set(),
    new Set(),
    [],
  ];
  let scope: "" | "not" | "except" = "";
  for (const [at, { start, end, bare: word }] of words.entries()) {
    const written = wish.slice(start, end);
    const before = bare[at - 1] ?? "";
    const base = NEGATED.get(word);
    if (NOT.has(word) || EXCEPT.has(word) || EXCEPT.has(`${before} ${word}`)) {
      scope = NOT.has(word) ? "not" : "except";
      groups.push(new Set());
    } else if (base !== undefined) groups.push(new Set([stem(base)]));
    else if (scope !== "" && ["and", "or", "nor"].includes(word)) {
      if (scope === "not" && word === "and") scope = "";
      groups.push(new Set());
    } else if (scope !== "" && !isThing(written)) for (const term of telling(word, false)) groups.at(-1)?.add(term);
    else {
      rest.push(written);
      if (!isThing(written)) for (const term of telling(word)) others.add(term);
      if (NOUN_LEADS.has(before)) for (const term of termsIn(word)) nouns.add(term);
    }
    if (STOPPED.test(written)) {
      if (scope !== "except" || !written.endsWith(",")) scope = "";
      groups.push(new Set());
    }
  }
  const told = groups.filter(({ size }) => size > 0);
  return told.length === 0 ? null : { groups: told, others, nouns, rest: rest.join(" ") };
}

/** The rows of a table that are meant; null where that is in doubt. */
export function keptRows(exclusion: Exclusion, text: string, name: string, table: Table): readonly TableRow[] | null {
  const around = aroundEntries(text, name, table);
  const rows = exclusion.groups.reduce<readonly TableRow[] | null>(
    (left, group) => (left === null ? null : without(group, left, table, around)),
    table.rows,
  );
  const held = termsOf(table.rows.flatMap(({ cells }) => cells));
  const { others, nouns } = exclusion;
  const isKnown = [...others].every((term) => held.has(term) || around.has(term) || nouns.has(term));
  if (rows === null || !isKnown) return null;
  const wanted = [...others].filter((term) => held.has(term) && !around.has(term));
  return rows.filter(({ cells }) => holdsAll(termsOf(cells), wanted));
}

/** The rows of which something is not said: by a column of yes and no, by a box, or by the words of their cells. */
function without(group: Terms, rows: readonly TableRow[], table: Table, around: Terms): readonly TableRow[] | null {
  const column = table.columns.findIndex(
    (name, at) => termsIn(name).some((term) => group.has(term)) && table.rows.every(({ cells }) => isMark(cells[at])),
  );
  if (column >= 0) return rows.filter(({ cells }) => NO.has(markOf(cells[column])));
  if ([...group].some((term) => DONE.has(term)) && table.rows.every((row) => isTicked(row) !== null))
    return rows.filter((row) => isTicked(row) === false);
  const all = termsOf(table.rows.flatMap(({ cells }) => cells));
  const held = [...group].filter((term) => all.has(term));
  if (held.length === 0 || [...group].some((term) => !all.has(term) && !around.has(term))) return null;
  return rows.filter(({ cells }) => !holdsAll(termsOf(cells.filter((cell) => !denies(cell))), held));
}

function holdsAll(terms: Terms, wanted: readonly string[]): boolean {
  return wanted.every((term) => terms.has(term));
}

function isMark(cell: string | undefined): boolean {
  const mark = markOf(cell);
  return YES.has(mark) || NO.has(mark) || DATED.test(mark);
}

function markOf(cell: string | undefined): string {
  return `${cell}`.trim().toLowerCase();
}

/** Whether a cell says of something that it is not so: "not paid yet", "unpaid". */
function denies(cell: string): boolean {
  return wordsOf(cell).some(({ bare }) => NOT.has(bare) || NEGATED.has(bare));
}
