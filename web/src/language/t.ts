import { catalogue, language } from "./language.ts";

/**
 * A part of a message. `{0}` is the value at 0; `{0}<text>` is the text as the value at 0 shows it, for a link inside a
 * sentence; `{call|calls}` is the form for the number before it, and `{1:call|calls}` for the one at 1.
 */
export type Piece =
  | string
  | { readonly at: number; readonly forms?: readonly string[]; readonly inner?: readonly Piece[] };

const HOLE = /\{(\d+|(?:\d+:)?[^{}]*\|[^{}]*)\}(?:(?<=\d\})<([^<>]*)>)?/g;

const numbers = new Intl.NumberFormat(language);
const plurals = new Intl.PluralRules(language);
/** The forms of a plural stand in the order of the language's categories, `other` last. */
const categories = plurals
  .resolvedOptions()
  .pluralCategories.toSorted((a, b) => Number(a === "other") - Number(b === "other"));

const known = new WeakMap<TemplateStringsArray, readonly Piece[]>();

/** A text in the page's language: t`Remove ${name}`. The English is the key of the catalogue. Numbers get their separators. */
export function t(parts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return piecesOf(parts)
    .map((piece) => (typeof piece === "string" ? piece : wordingOf(piece, values)))
    .join("");
}

/** What the catalogue has for these words, else the words. Each is taken apart once. */
export function piecesOf(parts: TemplateStringsArray): readonly Piece[] {
  let pieces = known.get(parts);
  if (pieces === undefined) {
    const key = keyOf(parts);
    pieces = takeApart(catalogue[key] ?? key);
    known.set(parts, pieces);
  }
  return pieces;
}

/** `Remove {0}`; where a text goes on in the source's next line, it has one space. */
export function keyOf(parts: readonly string[]): string {
  return parts.reduce((key, part, index) => `${key}{${index - 1}}${part}`).replace(/\s*\n\s*/g, " ");
}

export function takeApart(message: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  let last = 0;
  for (const { 0: whole, 1: hole = "", 2: inner, index } of message.matchAll(HOLE)) {
    if (index > from) pieces.push(message.slice(from, index));
    from = index + whole.length;
    const explicit = /^\d+/.exec(hole)?.[0];
    if (!hole.includes("|")) last = Number(hole);
    const at = explicit === undefined ? last : Number(explicit);
    if (hole.includes("|")) pieces.push({ at, forms: hole.replace(/^\d+:/, "").split("|") });
    else pieces.push(inner === undefined ? { at } : { at, inner: takeApart(inner) });
  }
  if (from < message.length) pieces.push(message.slice(from));
  return pieces;
}

/** A value in the page's language, or the form of a word that goes with it. */
export function wordingOf(piece: Exclude<Piece, string>, values: readonly unknown[]): string {
  const value = values[piece.at];
  if (piece.forms === undefined) return typeof value === "number" ? numbers.format(value) : String(value);
  return piece.forms[categories.indexOf(plurals.select(Number(value)))] ?? piece.forms.at(-1) ?? "";
}
