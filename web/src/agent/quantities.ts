import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * Numbers as people write them in lists and tables, read exactly or not at all. Which of `.` and `,` parts the thousands is told
 * by all numbers of a list together; where they contradict each other, or where the units differ, nothing is read.
 */

const SIGNS: ReadonlyMap<string, string> = new Map(Object.entries(vocabulary.currencySigns));
const CODES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(vocabulary.currencyWords),
  ...vocabulary.currencyCodes.map((code) => [code, code.toUpperCase()] as const),
]);
const MARKS = [...SIGNS.keys()].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const AFTER = anyOf([...SIGNS.keys(), ...CODES.keys(), ...vocabulary.units]);
const QUANTITY = new RegExp(
  `(?<![A-Za-z0-9_.,:/'’$-])([-−+]?)(?:([${MARKS}]|\\b(?:${anyOf(vocabulary.currencyCodes)})\\b) ?)?` +
    `([0-9][0-9.,'’]*[0-9]|[0-9])(?: ?(${AFTER}))?(?![A-Za-z0-9_%]|[-/:][0-9]|[.,][0-9])`,
  "gi",
);
const DATED =
  /[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+Z?)?|\b[0-9]{1,2}[./][0-9]{1,2}[./](?:[0-9]{4}|[0-9]{2})\b|\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\b/g;
const BULLET = /^ *(?:[-*+•]|[0-9]{1,3}[.)]) +/;
const GROUPED = /^(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:\.[0-9]{3})+)$/;

/**
 * A number as it is written, without its separators read yet. `unit` is a currency's code, another unit in lower case, or empty;
 * `text` is all of it.
 */
export interface WrittenNumber {
  readonly text: string;
  readonly negative: boolean;
  readonly digits: string;
  readonly unit: string;
}

/** An exact number: `units` divided by ten to the power of `scale`. */
export interface Quantity {
  readonly units: bigint;
  readonly scale: number;
}

/**
 * The numbers of a line or a cell, in order. Dates, times, numbers of phones and versions and a list's own numbers are none.
 * Where some have a currency, the others are counts and kinds of what is paid for, and left away.
 */
export function numbersIn(text: string): WrittenNumber[] {
  const plain = text.replace(BULLET, "").replaceAll(DATED, " ");
  const found = [...plain.matchAll(QUANTITY)].map(([all, sign, before, digits, after]) => ({
    text: all,
    negative: sign === "-" || sign === "−",
    digits: digits as string,
    unit: unitOf(before ?? after ?? ""),
  }));
  const paid = found.filter(({ unit }) => /^[A-Z]+$/.test(unit));
  return paid.length > 0 ? paid : found;
}

/** The numbers of a list and the unit that they share; null where that is not clear. */
export function readQuantities(
  written: readonly WrittenNumber[],
): { readonly numbers: readonly Quantity[]; readonly unit: string } | null {
  const [unit = "", ...units] = new Set(written.map((each) => each.unit));
  const [mark = ".", ...marks] = new Set(
    written.map(({ digits }) => decimalMark(digits)).filter((each) => each !== ""),
  );
  if (units.length > 0 || marks.length > 0) return null;
  const numbers = written.map((each) => read(each, mark));
  return numbers.some((each) => each === null) ? null : { numbers: numbers.filter((each) => each !== null), unit };
}

/** A number in digits, with a point before its decimals. */
export function asWritten({ units, scale }: Quantity): string {
  const negative = units < 0n;
  const digits = String(negative ? -units : units).padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  return `${negative ? "-" : ""}${whole}${scale > 0 ? `.${digits.slice(-scale)}` : ""}`;
}

/** The exact sum, with as many decimals as the number that has most. */
export function add(quantities: readonly Quantity[]): Quantity {
  const scale = Math.max(0, ...quantities.map((each) => each.scale));
  return { units: quantities.reduce((total, each) => total + scaled(each, scale), 0n), scale };
}

/** The number's units at a scale that is not below its own; two numbers are compared by them. */
export function scaled({ units, scale }: Quantity, to: number): bigint {
  return units * 10n ** BigInt(to - scale);
}

/** A number divided, to two decimals more than it has and halves away from zero; and whether that is exact. */
export function divide({ units, scale }: Quantity, by: number): { readonly mean: Quantity; readonly isExact: boolean } {
  const wide = units * 100n;
  const divisor = BigInt(by);
  const size = ((wide < 0n ? -wide : wide) * 2n + divisor) / (divisor * 2n);
  let rounded = wide < 0n ? -size : size;
  let decimals = scale + 2;
  while (decimals > scale && rounded % 10n === 0n) {
    rounded /= 10n;
    decimals--;
  }
  return { mean: { units: rounded, scale: decimals }, isExact: wide % divisor === 0n };
}

function unitOf(mark: string): string {
  const unit = mark.toLowerCase();
  return SIGNS.get(unit) ?? CODES.get(unit) ?? unit;
}

/** The mark before the decimals, where the number itself tells; empty where it does not. */
function decimalMark(digits: string): string {
  const marks = digits.match(/[.,]/g) ?? [];
  const isGrouped = GROUPED.test(digits);
  if (marks.length === 0) return "";
  if (isGrouped) return marks[0] === "," ? "." : marks.length > 1 ? "," : "";
  return marks.at(-1) as string;
}

function read({ digits: written, negative }: WrittenNumber, mark: string): Quantity | null {
  const digits = written.replaceAll(/['’]/g, "");
  const at = digits.lastIndexOf(mark);
  const whole = at < 0 ? digits : digits.slice(0, at);
  const decimals = at < 0 ? "" : digits.slice(at + 1);
  const other = mark === "." ? "," : ".";
  if (whole.includes(other) && !GROUPED.test(whole)) return null;
  if (whole.includes(mark) || decimals.includes(other) || (at >= 0 && decimals === "")) return null;
  const units = BigInt(whole.replaceAll(other, "") + decimals);
  return { units: negative ? -units : units, scale: decimals.length };
}
