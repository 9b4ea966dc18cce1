/**
 * Cuts a string into what may be shown as it is and what has to be shown as an escape, so that two different strings
 * never look the same on the page where a person decides. docs/SECURITY.md case 34: right-to-left overrides, newline
 * padding, look-alike letters.
 */

import { t } from "../language/t.ts";
export type Segment =
  /** Characters that look like what they are. */
  | { readonly kind: "plain"; readonly text: string }
  /** Words of a right-to-left script; they keep their own direction, everything around them stays left to right. */
  | { readonly kind: "rtl"; readonly text: string }
  /** A character without a shape of its own, as an escape. `count` is how often it stands there in a row. */
  | {
      readonly kind: "escape";
      readonly code: string;
      readonly name: string;
      readonly count: number;
      readonly breaks: boolean;
    }
  /** A visible character that passes for another; `like` is the one it passes for. */
  | { readonly kind: "lookalike"; readonly text: string; readonly code: string; readonly like: string };

/** From this many on, a row of spaces is counted instead of shown: padding pushes what follows out of sight. */
const PADDING = 8;

/** From this many combining marks on, the rest are escapes: they pile up over neighbouring lines. */
const STACKED_MARKS = 3;

const NAMES: Readonly<Record<string, string>> = {
  "\0": t`null`,
  "\t": t`tab`,
  "\n": t`line break`,
  "\r": t`carriage return`,
  "\u001b": t`escape`,
  " ": t`space`,
  "\u00a0": t`no-break space`,
  "\u00ad": t`soft hyphen`,
  "\u061c": t`Arabic letter mark`,
  "\u200b": t`zero-width space`,
  "\u200c": t`zero-width non-joiner`,
  "\u200d": t`zero-width joiner`,
  "\u200e": t`left-to-right mark`,
  "\u200f": t`right-to-left mark`,
  "\u2028": t`line separator`,
  "\u2029": t`paragraph separator`,
  "\u202a": t`left-to-right embedding`,
  "\u202b": t`right-to-left embedding`,
  "\u202c": t`end of embedding`,
  "\u202d": t`left-to-right override`,
  "\u202e": t`right-to-left override`,
  "\u2060": t`word joiner`,
  "\u2066": t`left-to-right isolate`,
  "\u2067": t`right-to-left isolate`,
  "\u2068": t`first-strong isolate`,
  "\u2069": t`end of isolate`,
  "\u2800": t`blank braille cell`,
  "\u3000": t`ideographic space`,
  "\u3164": t`Hangul filler`,
  "\ufeff": t`byte order mark`,
};

const SHORT_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" };

// General categories other, separator other than the plain space, and everything Unicode lets a font leave out.
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;
const MARK = /\p{M}/u;
const LATIN = /\p{Script=Latin}/u;
const LETTER = /\p{L}/u;
// The blocks whose characters run right to left by default (Unicode Bidirectional Algorithm, DerivedBidiClass).
const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const ASCII = /^[\x21-\x7e]+$/;

/** Letters of other scripts that a reader takes for Latin ones, after Unicode TR39's confusables. */
const LETTER_TWINS = twins({
  a: "аαɑ",
  b: "Ь",
  c: "сϲᴄ",
  d: "ԁᏧ",
  e: "еҽ",
  f: "ẝ",
  g: "ɡց",
  h: "һհ",
  i: "іιıⅰᎥ",
  j: "јϳյ",
  k: "кκ",
  l: "ӏǀ",
  n: "ոη",
  o: "оοօ",
  p: "рρ",
  q: "ԛզ",
  r: "г",
  s: "ѕꜱ",
  u: "υսᴜ",
  v: "νѵᴠ",
  w: "ԝᴡ",
  x: "хχ",
  y: "уγү",
  z: "ᴢ",
  A: "АΑᎪ",
  B: "ВΒᏴ",
  C: "СϹᏟ",
  D: "Ꭰ",
  E: "ЕΕᎬ",
  F: "Ϝ",
  G: "ԌᏀ",
  H: "НΗᎻ",
  I: "ІΙӀ",
  J: "ЈᎫ",
  K: "КΚᏦ",
  L: "Ꮮ",
  M: "МΜᎷ",
  N: "Ν",
  O: "ОΟՕ",
  P: "РΡᏢ",
  Q: "Ԛ",
  R: "Ꭱ",
  S: "ЅՏᏚ",
  T: "ТΤᎢ",
  U: "Ս",
  V: "ѴᏙ",
  W: "ԜᎳ",
  X: "ХΧ",
  Y: "УΥҮ",
  Z: "ΖᏃ",
});

/** Signs that pass for the ones paths, hosts and commands are made of. */
const SIGN_TWINS = twins({
  "/": "⁄∕⧸╱〳",
  "\\": "∖⧵⧹",
  ".": "․܂",
  ":": "ː˸։׃∶꞉",
  "-": "‐‑‒–−",
  "!": "ǃ",
  "'": "ʹʼˈ",
  '"': "ʺ",
  ",": "‚",
  ";": "\u037e",
  "~": "∼",
  "*": "∗",
  "|": "∣",
  _: "ˍ",
});

/** The segments of `text`, in logical order. Joining their text and escapes back gives every character of it. */
export function segment(text: string): Segment[] {
  const segments: Segment[] = [];
  const words = text.split(/(\s+)/u);
  const foreign = words.some(isForeign);
  for (const word of words) {
    const suspicious = !isForeign(word) && (!foreign || hasLatin(word));
    let marks = 0;
    for (const char of word) {
      marks = MARK.test(char) ? marks + 1 : 0;
      add(segments, classify(char, suspicious, marks));
    }
  }
  return countPadding(segments);
}

/** `U+202E`, at least four digits. */
export function codeOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function classify(char: string, suspicious: boolean, marks: number): Segment {
  if (INVISIBLE.test(char) || marks > STACKED_MARKS) return escapeOf(char, 1);
  const like = SIGN_TWINS.get(char) ?? compatible(char) ?? (suspicious ? LETTER_TWINS.get(char) : undefined);
  if (like !== undefined) return { kind: "lookalike", text: char, code: codeOf(char), like };
  return { kind: RTL.test(char) ? "rtl" : "plain", text: char };
}

function escapeOf(char: string, count: number): Segment {
  const code = SHORT_ESCAPES[char] ?? codeOf(char);
  return { kind: "escape", code, name: NAMES[char] ?? t`character that cannot be seen`, count, breaks: char === "\n" };
}

/**
 * A word that can only be foreign: letters of its own script that pass for no Latin one, and nothing Latin. One such word
 * shows which script the value is written in, and words like the Russian `а` beside it are then what they look like.
 */
function isForeign(word: string): boolean {
  return !hasLatin(word) && [...word].some((char) => LETTER.test(char) && !LETTER_TWINS.has(char));
}

function hasLatin(word: string): boolean {
  return [...word].some((char) => LATIN.test(char) && !LETTER_TWINS.has(char));
}

/** Full-width, mathematical and other compatibility forms of plain ASCII (Unicode NFKC), such as `ｒｍ` or `𝐫𝐦`. */
function compatible(char: string): string | undefined {
  if (char <= "\u007f") return undefined;
  const plain = char.normalize("NFKC");
  return plain !== char && ASCII.test(plain) ? plain : undefined;
}

function add(segments: Segment[], next: Segment): void {
  const last = segments.at(-1);
  if (last?.kind === "plain" && next.kind === "plain") {
    segments[segments.length - 1] = { kind: "plain", text: last.text + next.text };
  } else if (last?.kind === "rtl" && (next.kind === "rtl" || (next.kind === "plain" && MARK.test(next.text)))) {
    segments[segments.length - 1] = { kind: "rtl", text: last.text + next.text };
  } else if (next.kind === "rtl" && last?.kind === "plain" && last.text === " " && segments.at(-2)?.kind === "rtl") {
    // A space between two words of the same direction belongs to them, else a sentence would read backwards.
    segments.pop();
    add(segments, { kind: "rtl", text: ` ${next.text}` });
  } else if (last?.kind === "escape" && next.kind === "escape" && last.code === next.code) {
    segments[segments.length - 1] = { ...last, count: last.count + 1 };
  } else {
    segments.push(next);
  }
}

/** Turns long rows of spaces, and any space at an end or beside a line break, into counted escapes. */
function countPadding(segments: readonly Segment[]): Segment[] {
  return segments.flatMap((part, index) => {
    if (part.kind !== "plain") return [part];
    const atStart = index === 0 || isBreak(segments[index - 1]);
    const atEnd = index === segments.length - 1 || isBreak(segments[index + 1]);
    const pieces = part.text.split(/( +)/).filter((piece) => piece !== "");
    return pieces.map((piece, place): Segment => {
      const first = place === 0 && atStart;
      const last = place === pieces.length - 1 && atEnd;
      // Indentation of a few spaces after a line break reads well as it is; in front of the whole value it does not.
      const edge = (first && index === 0) || last;
      const isPadding = piece.startsWith(" ") && (edge || piece.length >= PADDING);
      return isPadding
        ? { ...(escapeOf(" ", piece.length) as Segment & { kind: "escape" }), code: t`space` }
        : { kind: "plain", text: piece };
    });
  });
}

function isBreak(part: Segment | undefined): boolean {
  return part?.kind === "escape" && part.breaks;
}

function twins(table: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(table).flatMap(([like, all]) => [...all].map((char) => [char, like] as const)));
}
