import { questionIn } from "./affairs.ts";
import { entriesOf, telling } from "./entries.ts";
import { cited, excerptOf } from "./excerpts.ts";
import { exclusionIn } from "./exclusions.ts";
import { fieldsIn, type NamedField, spelt } from "./fields.ts";
import { asksForFigure, type ResultSource } from "./figures.ts";
import { linesOf } from "./passages.ts";
import { isOtherLabel } from "./pertinent.ts";
import { stem, termsIn } from "./ranking.ts";
import type { Table } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * The value that a question asks of a table or of a list of fields: "who is on call on Thursday?", "what does the lamp cost?". Row
 * and column, or the name of a field, are told by the question's own words, so code finds the value where a small model takes that
 * of another row. What the words leave open is left to others.
 */

type Terms = readonly string[];

const OPENERS: ReadonlySet<string> = new Set(
  [...vocabulary.questionOpeners, ...vocabulary.leadingPrepositions].filter((word) => word !== "why"),
);
/** Words of a question, and what a column with the answer may be called. */
const ALIKE = vocabulary.sameColumns.map((group) => [...new Set(group.map(stem))].toSorted());
const HOLDING: ReadonlySet<string> = new Set(["has", "have", ...vocabulary.helpers]);
/** Questions that no number answers. */
const NAMING: ReadonlySet<string> = new Set(vocabulary.namingQuestions);
/** Letters by which two words are one where the other goes on: "receptionist" and "reception". */
const LEAST = 5;
/** Words of a line that is a sentence, and no heading. */
const SENTENCE = 6;
const HEADING = /^(#+) +(.+)$/;
const VERSION = /^v?[0-9]+(?:\.[0-9]+)+$/;

/** The value that a question asks for, with its place; null where its words do not tell one. */
export function answerValue(wish: string, source: ResultSource): string | null {
  const words = wordsOf(questionIn(wish)).map(({ bare }) => bare.replace(/['’]s$/, ""));
  const [first = "", , third = ""] = words;
  if (!OPENERS.has(first) || !source.whole || !source.hasLines) return null;
  if (asksForFigure(wish) || exclusionIn(wish) !== null) return null;
  const asked = [...new Set(words.flatMap((word) => telling(word)))];
  const table = entriesOf(source.text, source.name);
  if (table === null || table.columns.length === 0)
    return sectionAsked(words, source) ?? fieldAsked(words, asked, source);
  // "Which boats need repair?" asks for rows, of which there may be several.
  return first === "which" && !HOLDING.has(third) ? null : cellAsked(words, asked, table, source);
}

/** What stands below the heading that a question how something is done names, or one what is new in a version. */
function sectionAsked(words: Terms, { name, text }: ResultSource): string | null {
  const isHow = words[0] === "how" && words.length > 1 && !vocabulary.measures.includes(words[1] as string);
  if (!isHow && !words.some((word) => VERSION.test(word))) return null;
  const lines = linesOf(text);
  const asked = words.flatMap((word) => (VERSION.test(word) ? [word] : termsIn(word)));
  const heads = lines.flatMap((line, at) => {
    const [, marks, title = ""] = HEADING.exec(line) ?? [];
    if (marks === undefined) return [];
    const terms = termsIn(title);
    const spelt = title.split(/\s+/);
    const held = asked.filter((term) => spelt.includes(term) || terms.some((each) => isOne(term, each)));
    return [{ at, level: marks.length, held, last: asked.indexOf(held.at(-1) ?? "") }];
  });
  const [best] = heads.toSorted((one, other) => other.held.length - one.held.length || other.last - one.last);
  if (best === undefined || best.held.length === 0) return null;
  let end = heads.find(({ at, level }) => at > best.at && level <= best.level)?.at ?? lines.length;
  while (lines[end - 1]?.trim() === "") end--;
  const places = Array.from({ length: end - best.at }, (_, at) => best.at + at + 1);
  return `${cited(name, places)}\n\n${excerptOf(lines.slice(best.at, end).join("\n")).text}`;
}

/** The cell of the one row and the one column that the words speak of. */
function cellAsked(words: Terms, asked: Terms, { columns, rows }: Table, { name }: ResultSource): string | null {
  const held = rows.map(({ cells }) => hits(asked, cells.join(" ")));
  const most = Math.max(0, ...held.map((each) => each.length));
  const [row, ...others] = rows.filter((_, at) => held[at]?.length === most);
  if (most === 0 || row === undefined || others.length > 0) return null;
  const ofRow = held.find((each) => each.length === most) as Terms;
  const counts = namedBy(
    asked.filter((term) => !ofRow.includes(term)),
    words,
    columns,
    name,
  ).map((each) => each.length);
  const best = Math.max(...counts);
  const column = counts.indexOf(best);
  const value = row.cells[column] as string;
  if (best === 0 || counts.lastIndexOf(best) !== column || value === "" || !fits(words, value)) return null;
  const label = row.cells.find((cell) => hits(ofRow, cell).length > 0);
  return label === value
    ? null
    : `${label}: ${value} ${cited(name, row.line === null ? [] : [row.line], columns[column])}`;
}

/** The field that most of the words name, where one has more of them than the others. */
function fieldAsked(words: Terms, asked: Terms, { name, text }: ResultSource): string | null {
  const fields = fieldsIn(text, name);
  const named = namedBy(
    asked,
    words,
    fields.map((each) => spelt(each.name)),
    `${name} ${knownOf(text, fields)}`,
  );
  const ranked = fields.map((field, at) => {
    const names = fits(words, field.value) ? (named[at] as Terms) : [];
    const around = hits(asked, [...field.within, ...field.beside].join(" "));
    return { field, own: names.length, all: names.length === 0 ? 0 : new Set([...names, ...around]).size };
  });
  const [best, next] = ranked.toSorted((one, other) => other.own - one.own || other.all - one.all);
  const ofFile = termsIn(name);
  if (best === undefined || best.own === 0 || (next?.own === best.own && next.all === best.all)) return null;
  if (best.all * 2 < asked.filter((term) => !ofFile.includes(term)).length) return null;
  if (isOtherLabel(asked, best.field.name)) return null;
  const { within, beside, value, line } = best.field;
  // What else it is told by: the name of its record, or of what it belongs to.
  const label = [...within, ...beside].filter((each) => hits(asked, each).length > 0).slice(0, 1);
  return `${[...label, best.field.name, value].join(": ")} ${cited(name, [line])}`;
}

/** What a text says beside its sentences: those of a mail tell of other days than its date. */
function knownOf(text: string, fields: readonly NamedField[]): string {
  const told = new Set(fields.map(({ line }) => line));
  return linesOf(text)
    .filter((line, at) => told.has(at + 1) || wordsOf(line).length < SENTENCE)
    .join("\n");
}

/** Whether a value can be what is asked for: a number or a day, or what is neither. */
function fits(words: Terms, value: string): boolean {
  const [first = "", second = ""] = words;
  if (first === "when" || second === "when" || (first === "how" && second !== "is")) return /[0-9]/.test(value);
  return !NAMING.has(first) || /\p{L}/u.test(value);
}

/**
 * What each name has of a question; where none has any, of what the answer may be called by. Then nothing of the question may be left
 * that neither that nor what is `known` has.
 */
function namedBy(asked: Terms, words: Terms, names: readonly string[], known: string): readonly Terms[] {
  const own = names.map((name) => hits(asked, name));
  if (own.some((each) => each.length > 0)) return own;
  const said = new Set(words.map(stem));
  const alike = ALIKE.filter((group) => group.some((term) => said.has(term))).flat();
  const covered = new Set([...alike, ...hits(asked, known)]);
  return names.map((name) => (asked.every((term) => covered.has(term)) ? hits(alike, name) : []));
}

/** The terms that a text has, or of which it has the beginning or more. */
function hits(asked: Terms, text: string): string[] {
  const terms = termsIn(text);
  return asked.filter((term) => terms.some((each) => isOne(term, each)));
}

function isOne(one: string, two: string): boolean {
  const [shorter, longer] = one.length <= two.length ? [one, two] : [two, one];
  return one === two || (shorter.length >= LEAST && longer.startsWith(shorter));
}
