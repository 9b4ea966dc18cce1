import { askedKind, callingTerms, withKinds } from "./called-names.ts";
import { copy } from "./copy.ts";
import { cited, excerptOf } from "./excerpts.ts";
import { type Exclusion, exclusionIn, keptRows } from "./exclusions.ts";
import { answerFigure, figureIn, type ResultSource } from "./figures.ts";
import { fill } from "./fill.ts";
import { linesOf } from "./passages.ts";
import { numbersIn } from "./quantities.ts";
import { stem, termsIn } from "./ranking.ts";
import { labelOfNumber, type Table } from "./tables.ts";
import { vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/* What all files of a folder come to: the ones that are asked for, a number over them, or what each says of a question. */

type Terms = ReadonlySet<string>;
type Figure = keyof typeof vocabulary.figures;

const FIELD = /^[ \t]*(?:[-*+] )?([^:=0-9]{1,40}?)[ \t]*[:=][ \t]*([^ \t].*)$/;
const { More, Longer, Less, Shorter } = vocabulary.comparedBy;
const RANKED: ReadonlyMap<string, Figure> = new Map([
  ...[...More, ...Longer].map((word) => [word, "largest"] as const),
  ...[...Less, ...Shorter].map((word) => [word, "smallest"] as const),
]);
const TOTALS: Terms = new Set(vocabulary.totalLabels.map(stem));

/** What the files of a folder come to: the rows that are asked for, a number, or what each says of the question. */
export function toldOfFolder(wish: string, folder: string, sources: readonly ResultSource[]): string {
  const table = tableOfFiles(sources);
  const where = `${folder}/`;
  const exclusion = exclusionIn(wish);
  const rows = exclusion !== null && tellAll(exclusion, table) ? keptRows(exclusion, "", `${where} file`, table) : null;
  if (rows !== null)
    return listed(
      rows.map(({ cells }) => cells[0] as string),
      sources.length,
      where,
    );
  const said = figureOf(wish, where, table, sources);
  if (said !== null) return said;
  const named = withKinds(new Set(termsIn(folder)));
  const terms = [...callingTerms(wish)].filter((term) => !named.has(term));
  const shown = sources.flatMap(({ name, text }) => {
    const lines = linesOf(text).map((line, at) => ({ line, place: at + 1 }));
    const held = lines.filter(({ line }) => termsIn(line).some((term) => terms.includes(term)));
    const places = held.map(({ place }) => place);
    return held.length === 0
      ? []
      : [`${cited(name, places)}\n\n${excerptOf(held.map(({ line }) => line).join("\n")).text}`];
  });
  const all = sources.map(({ name, text }) => `${cited(name)}\n\n${excerptOf(text).text}`);
  if (shown.length === 0) return [copy.comparedOpen, ...all].join("\n\n");
  return [`${countOf(shown.length)} ${cited(where)}:`, ...shown].join("\n\n");
}

/** Whether each file has a field by which the question tells them apart: one without it is none that is "not paid". */
function tellAll({ groups }: Exclusion, { columns, rows }: Table): boolean {
  const isIt = (text: string) => termsIn(text).some((term) => groups.some((group) => group.has(term)));
  const fields = columns.flatMap((name, at) =>
    at > 0 && [name, ...rows.map(({ cells }) => cells[at] as string)].some(isIt) ? [at] : [],
  );
  return rows.every(({ cells }) => fields.some((at) => cells[at] !== ""));
}

function listed(files: readonly string[], count: number, where: string): string {
  if (files.length === 0) return `${fill(copy.noneLeft, () => `${count}`)} ${cited(where)}`;
  return `${countOf(files.length)} ${cited(where)}: ${files.map((file) => `\`${file}\``).join(", ")}`;
}

/** The files that a figure is of: "the open invoices" are those of which a field has the word, where others have another. */
function askedRows(table: Table, said: ReadonlySet<string>): Table {
  const told = table.rows.map(
    ({ cells }) =>
      new Set(
        cells
          .slice(1)
          .filter((cell) => numbersIn(cell).length === 0)
          .flatMap((cell) => termsIn(cell))
          .filter((term) => said.has(term)),
      ),
  );
  const apart = told.flatMap((each) => [...each]).filter((term) => !told.every((other) => other.has(term)));
  const rows = table.rows.filter((_, at) => apart.every((term) => told[at]?.has(term)));
  return rows.length > 0 ? { ...table, rows } : table;
}

/** The number that is asked for, over the files; the column is the one that the question names, else what is paid. */
function figureOf(wish: string, where: string, table: Table, sources: readonly ResultSource[]): string | null {
  const ranked = wordsOf(wish).flatMap(({ bare }) => RANKED.get(bare) ?? [])[0];
  const figure = figureIn(wish) ?? ranked;
  if (figure === undefined || !sources.every(({ whole }) => whole)) return null;
  const said = new Set(termsIn(wish));
  const { columns, rows } = askedRows(table, said);
  const numbers = columns.map((_, at) => rows.map(({ cells }) => numbersIn(cells[at] as string)));
  const whole = columns.flatMap((_, at) => (at > 0 && numbers[at]?.every(({ length }) => length === 1) ? [at] : []));
  const calls = (terms: Terms) => (at: number) => termsIn(columns[at] as string).some((term) => terms.has(term));
  const paid = whole.filter((at) => numbers[at]?.flat().every(({ unit }) => /^[A-Z]+$/.test(unit)));
  const [named, totals] = [whole.filter(calls(said)), paid.filter(calls(TOTALS))];
  const [column, ...others] = [named, totals, paid].find(({ length }) => length > 0) ?? [];
  if (figure === "count" || column === undefined || others.length > 0) return statedOf(wish, figure, where, sources);
  return workedOut(
    figure,
    where,
    rows.map(({ cells }) => ({ file: cells[0] as string, value: cells[column] as string })),
  );
}

/** A figure of one number for each file. */
function workedOut(figure: Figure, name: string, values: readonly { file: string; value: string }[]): string | null {
  const asked = vocabulary.figures[figure][0] as string;
  return answerFigure(asked, { name, text: JSON.stringify(values), whole: true, hasLines: false });
}

/** The same of what each file has one number of: "20 copies". How many there are of it is their sum. */
function statedOf(wish: string, figure: Figure, where: string, sources: readonly ResultSource[]): string | null {
  const terms = figure === "count" ? askedKind(wish) : callingTerms(wish);
  const found = sources.map(({ name, text }) => ({
    name,
    numbers: linesOf(text).flatMap((line) => (termsIn(line).some((term) => terms.has(term)) ? numbersIn(line) : [])),
  }));
  if (found.some(({ numbers }) => numbers.length !== 1)) return null;
  const values = found.flatMap(({ name, numbers }) => numbers.map(({ text }) => ({ file: name, value: text })));
  return workedOut(figure === "count" ? "sum" : figure, where, values);
}

/** A row for each file, with a column for each field that more than one has. */
function tableOfFiles(sources: readonly ResultSource[]): Table {
  const records = sources.map(({ name, text }) => ({ name, fields: recordOf(text) }));
  const names = [...new Set(records.flatMap(({ fields }) => [...fields.keys()]))];
  const columns = names.filter((name) => records.filter(({ fields }) => fields.has(name)).length > 1);
  const rows = records.map(({ name, fields }) => ({
    cells: [name, ...columns.map((column) => fields.get(column) ?? "")],
    line: null,
  }));
  return { columns: ["file", ...columns], rows, totals: [], listing: false };
}

/** The fields of a file: what stands before a colon, or around the only number of a line. */
function recordOf(text: string): ReadonlyMap<string, string> {
  const record = new Map<string, string>();
  const keep = (name: string, value: string) => {
    if (!record.has(name)) record.set(name, value);
  };
  for (const line of linesOf(text)) {
    const [, name, value] = FIELD.exec(line) ?? [];
    const [number, ...others] = numbersIn(line);
    if (name !== undefined && value !== undefined) keep(name.trim().toLowerCase(), value.trim());
    else if (number !== undefined && others.length === 0)
      keep(labelOfNumber(line, number.text).toLowerCase(), number.text);
  }
  return record;
}

export function countedFiles(count: number, folder: string): string {
  return `${countOf(count)} ${cited(`${folder}/`)}`;
}

/** Which files are below a folder. */
export function listedFiles(files: readonly string[], folder: string): string {
  const names = files.map((file) => `\`${file.slice(folder.length + 1)}\``);
  const told = names.length === 1 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  const blanks: Readonly<Record<string, string>> = { count: `${names.length}`, place: `\`${folder}/\``, names: told };
  return fill(names.length === 1 ? copy.listedOne : copy.listed, (blank) => blanks[blank] as string);
}

function countOf(count: number): string {
  return fill(copy.counted, (blank) => (blank === "count" ? `${count}` : count === 1 ? copy.fileOne : copy.fileMany));
}
