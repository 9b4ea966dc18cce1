import { Lexer, type Token, type TokenizerExtensionFunction } from "marked";

/** A formula as it was written, with and without its delimiters. */
export interface FormulaToken {
  readonly type: "formula";
  readonly raw: string;
  readonly tex: string;
  /** On a line of its own. */
  readonly display: boolean;
}

/** Longer formulas, in characters, are shown as they were written: drawing one would take longer than a frame. */
const LONGEST = 2_000;
/** How many characters of formulas one message has room for, where each formula takes some more. The rest of it is text. */
const ROOM = 20_000;
const EACH = 40;
/** What a sign takes that begins none, such as that of a price. */
const VAIN = 4;

const OPENING = /\$|\\[([]/;
const BEGINS_INLINE = /^(?:\$|\\[([])/;
const BEGINS_BLOCK = /^ {0,3}(?:\$\$|\\\[)/;
const OPENING_OF_BLOCK = /(?<=\n {0,3})(?:\$\$|\\\[)/;

/** The parts of a Markdown text with its formulas. Without a sign that begins one, a text is read as it always was. */
export function readMarkdown(text: string): Token[] {
  if (!OPENING.test(text)) return new Lexer({ gfm: true }).lex(text);
  let room = ROOM;
  const counted =
    (begins: RegExp, read: (src: string, before: string) => FormulaToken | undefined): TokenizerExtensionFunction =>
    (src, tokens) => {
      if (room <= 0 || !begins.test(src)) return undefined;
      const token = read(src, tokens.at(-1)?.raw.at(-1) ?? "");
      room -= token === undefined ? VAIN : token.raw.length + EACH;
      return token;
    };
  const startOf = (opening: RegExp) => (src: string) => (room <= 0 ? undefined : findStart(src, opening));
  const extensions = {
    inline: [counted(BEGINS_INLINE, readInline)],
    block: [counted(BEGINS_BLOCK, readBlock)],
    startInline: [startOf(OPENING)],
    startBlock: [startOf(OPENING_OF_BLOCK)],
    childTokens: {},
    renderers: {},
  };
  return new Lexer({ gfm: true, extensions }).lex(text);
}

/**
 * Where a formula may begin. It is looked for in a window: a text is read piece by piece, and to search the whole rest for each
 * piece would take the square of its length. Where the window ends the text is only cut, and the lexer joins it again.
 */
function findStart(src: string, opening: RegExp): number {
  const start = src.slice(0, LONGEST).search(opening);
  return start < 0 && src.length > LONGEST && opening === OPENING ? LONGEST : start;
}

function readBlock(src: string): FormulaToken | undefined {
  const indent = " ".repeat(src.search(/[^ ]/));
  const token = readDelimited(src.slice(indent.length));
  if (token === undefined) return undefined;
  // A formula that more text follows on its line belongs to a paragraph.
  const rest = /^[ \t]*(?:\n+|$)/.exec(src.slice(indent.length + token.raw.length));
  return rest === null ? undefined : { ...token, raw: `${indent}${token.raw}${rest[0]}` };
}

function readInline(src: string, before: string): FormulaToken | undefined {
  return readDelimited(src) ?? (/[\p{L}\p{N}$]/u.test(before) ? undefined : readBetweenDollars(src));
}

const DELIMITERS = [
  ["$$", "$$", true],
  ["\\[", "\\]", true],
  ["\\(", "\\)", false],
] as const;

/** What stands between delimiters that mean nothing else. A formula has no empty lines. */
function readDelimited(src: string): FormulaToken | undefined {
  const [opening, closing, display] = DELIMITERS.find(([each]) => src.startsWith(each)) ?? [];
  if (opening === undefined) return undefined;
  const inside = src.slice(opening.length, opening.length + LONGEST);
  const length = inside.indexOf(closing);
  const tex = inside.slice(0, Math.max(length, 0));
  if (tex.trim() === "" || /\n\s*\n/.test(tex)) return undefined;
  return { type: "formula", raw: `${opening}${tex}${closing}`, tex: tex.trim(), display };
}

/**
 * What stands between single dollar signs, which are more often those of money. As in Pandoc, no space follows the first or comes
 * before the second, and no digit follows the second. Words after a number are a price as well.
 */
function readBetweenDollars(src: string): FormulaToken | undefined {
  const [raw, tex = ""] = /^\$(?![\s$])((?:[^$\\`\n]|\\[^\n]){1,2000})(?<!\s)\$(?![\p{L}\p{N}_$])/u.exec(src) ?? [];
  if (raw === undefined || isPrice(tex)) return undefined;
  return { type: "formula", raw, tex, display: false };
}

function isPrice(tex: string): boolean {
  return /^\d/.test(tex) && /\s\p{L}{2,}/u.test(tex.replace(/\\\p{L}+|\{[^}]*\}/gu, ""));
}
