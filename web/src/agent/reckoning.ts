import { copy } from "./copy.ts";
import { fill } from "./fill.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * Arithmetic that a wish holds whole: "what's 17 times 23?", "12 % of 80", "3 + 4 * 2". Worked out by code, exactly. A small model
 * is often wrong by a digit, and says it as surely. Whatever is no such sum as a whole is the model's: a date, "24/7", a percentage
 * that is added to something.
 */

/** Characters of what is worked out, so that no number grows without bound. */
const LONGEST = 120;
/** Decimal places of a result that has no end. */
const PLACES = 10;
const ONE = 10n ** BigInt(PLACES);
const LEAD = new RegExp(`^(?:(?:${anyOf([...vocabulary.fillers, ...vocabulary.reckoningLeads])})[ ,]+)*`, "i");
const TAIL = /[ =?.]+$/;
const NUMBER = "(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|0(?!x)|[1-9][0-9]{0,14})(?:\\.[0-9]{1,10})?(?![0-9.,]*[0-9])";
const SIGNS = anyOf(Object.keys(vocabulary.reckoningSigns));
/** A number or a sign. What stands between "24" and "7" without blanks is mostly none. */
const TOKEN = new RegExp(
  ` *(${NUMBER}|(?:${SIGNS})(?![a-z])|(?<= )[-/](?= )|(?<=[0-9]{3})/(?=[0-9])|(?<![0-9)])-(?=[0-9(]))`,
  "iy",
);

/** A fraction. `below` is positive. */
interface Fraction {
  readonly above: bigint;
  readonly below: bigint;
}

/** What a wish for nothing but a sum comes to, in words; null for any other wish. */
export function reckonedIn(wish: string): string | null {
  const tokens = tokensIn(wish.trim().replace(LEAD, "").replace(TAIL, ""));
  if (tokens.length < 3) return null;
  const rest = [...tokens];
  const result = total(rest);
  const terms = tokens.join(" ").replaceAll("( ", "(").replaceAll(" )", ")");
  if (result === null || rest.length > 0) return null;
  if (result.below === 0n) return fill(copy.byZero, () => terms);
  const said = { terms, ...shown(result) };
  return fill(copy.reckoned, (name) => said[name as keyof typeof said]);
}

/** The numbers and signs that a text consists of; none where it has anything else. */
function tokensIn(text: string): string[] {
  if (text.length > LONGEST) return [];
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const found = TOKEN.exec(text)?.[1]?.toLowerCase();
    if (found === undefined) return [];
    tokens.push(vocabulary.reckoningSigns[found] ?? found.replaceAll(",", ""));
  }
  return tokens;
}

/** Reads tokens from the left: products before sums, brackets before both. Null wherever they do not fit together. */
function total(rest: string[]): Fraction | null {
  let left = product(rest);
  while (left !== null && (rest[0] === "+" || rest[0] === "-")) {
    const sign = rest.shift() === "+" ? 1n : -1n;
    const right = product(rest);
    left =
      right === null
        ? null
        : { above: left.above * right.below + sign * right.above * left.below, below: left.below * right.below };
  }
  return left;
}

function product(rest: string[]): Fraction | null {
  let left = factor(rest);
  while (left !== null && (rest[0] === "*" || rest[0] === "/" || rest[0] === "% of")) {
    const sign = rest.shift();
    const right = factor(rest);
    left =
      right === null ? null : sign === "/" ? divided(left, right) : multiplied(left, right, sign === "*" ? 1n : 100n);
  }
  return left;
}

function factor(rest: string[]): Fraction | null {
  const token = rest.shift() ?? "";
  if (token === "-") {
    const negated = factor(rest);
    return negated && { above: -negated.above, below: negated.below };
  }
  if (token === "(") {
    const inner = total(rest);
    return rest.shift() === ")" ? inner : null;
  }
  if (!/^\d/.test(token)) return null;
  const [whole, part = ""] = token.split(".");
  return { above: BigInt(`${whole}${part}`), below: 10n ** BigInt(part.length) };
}

function multiplied(one: Fraction, other: Fraction, by: bigint): Fraction {
  return { above: one.above * other.above, below: one.below * other.below * by };
}

/** Divided by nothing, what is below stays nothing in all that follows. */
function divided(one: Fraction, other: Fraction): Fraction {
  if (other.above * other.below === 0n) return { above: 0n, below: 0n };
  const sign = other.above < 0n ? -1n : 1n;
  return { above: sign * one.above * other.below, below: sign * one.below * other.above };
}

/** A number in digits, and the sign that says whether that is all of it. */
function shown({ above, below }: Fraction): { readonly total: string; readonly sign: string } {
  const scaled = (above < 0n ? -above : above) * ONE;
  const digits = (2n * scaled + below) / (2n * below);
  const part = (digits % ONE).toString().padStart(PLACES, "0");
  const text = `${digits / ONE}.${part}`.replace(/\.?0+$/, "");
  return { total: above < 0n && digits > 0n ? `-${text}` : text, sign: scaled % below === 0n ? "=" : "≈" };
}
