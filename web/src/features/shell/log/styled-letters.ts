/** Where Unicode has the letters of a style: capital A, small a and the digit 0, as far as it has them. */
const STYLES: Readonly<Record<string, readonly [capital: number, small: number, digit?: number]>> = {
  bold: [0x1d400, 0x1d41a, 0x1d7ce],
  italic: [0x1d434, 0x1d44e],
  "bold-italic": [0x1d468, 0x1d482],
  script: [0x1d49c, 0x1d4b6],
  "bold-script": [0x1d4d0, 0x1d4ea],
  fraktur: [0x1d504, 0x1d51e],
  "double-struck": [0x1d538, 0x1d552, 0x1d7d8],
  "bold-fraktur": [0x1d56c, 0x1d586],
  "sans-serif": [0x1d5a0, 0x1d5ba, 0x1d7e2],
  "bold-sans-serif": [0x1d5d4, 0x1d5ee, 0x1d7ec],
  "sans-serif-italic": [0x1d608, 0x1d622],
  "sans-serif-bold-italic": [0x1d63c, 0x1d656],
  monospace: [0x1d670, 0x1d68a, 0x1d7f6],
};

/** Letters that Unicode had before the alphabets, so that they have no place in those. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "italic h": "ℎ",
  "script B": "ℬ",
  "script E": "ℰ",
  "script F": "ℱ",
  "script H": "ℋ",
  "script I": "ℐ",
  "script L": "ℒ",
  "script M": "ℳ",
  "script R": "ℛ",
  "script e": "ℯ",
  "script g": "ℊ",
  "script o": "ℴ",
  "fraktur C": "ℭ",
  "fraktur H": "ℌ",
  "fraktur I": "ℑ",
  "fraktur R": "ℜ",
  "fraktur Z": "ℨ",
  "double-struck C": "ℂ",
  "double-struck H": "ℍ",
  "double-struck N": "ℕ",
  "double-struck P": "ℙ",
  "double-struck Q": "ℚ",
  "double-struck R": "ℝ",
  "double-struck Z": "ℤ",
};

/** A text in the letters of a style of MathML: browsers that keep to MathML Core read `mathvariant` no more. */
export function styledLetter(text: string, style: string): string {
  const [capital, small, digit] = STYLES[style] ?? [];
  if (capital === undefined || small === undefined) return text;
  return text.replace(/[A-Za-z0-9]/g, (char) => {
    const found = ELSEWHERE[`${style} ${char}`];
    if (found !== undefined) return found;
    const code = char.charCodeAt(0);
    if (char >= "a") return String.fromCodePoint(small + code - 97);
    if (char >= "A") return String.fromCodePoint(capital + code - 65);
    return digit === undefined ? char : String.fromCodePoint(digit + code - 48);
  });
}
