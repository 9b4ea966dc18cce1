import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * Amounts of money in what a person wrote: the token that looks like money first, and never digits of anything else.
 * "5$ two days ago" holds 5, and not 52.
 */

const CURRENCIES = { ...vocabulary.currencySigns, ...vocabulary.currencyWords };
const SIGNS = Object.keys(vocabulary.currencySigns).join("");
const SIGN = `[${SIGNS}]`;
/** Among the codes are none that are words: `try 5 times` and `php 8` speak of no money. */
const WORD = `(?:${anyOf([...Object.keys(vocabulary.currencyWords), ...vocabulary.currencyCodes])})`;
const NUMBER = "\\d[\\d.,]*\\d|\\d";
const MARKED = new RegExp(
  "(?<![\\w.,/:#+-])" + `(?:(${SIGN}|${WORD}) ?(${NUMBER})(?![\\w/]|[.,]\\d)` + `|(${NUMBER}) ?(${SIGN}|${WORD}\\b))`,
  "g",
);
const BARE = new RegExp(`(?<![\\w.,/:#+${SIGNS}-])(${NUMBER})(?![\\w/:%°${SIGNS}-]|[.,]\\d)`, "g");

/** An amount as plain decimal text, "1234.50", and its currency as an ISO code if the words say it. */
export interface Money {
  readonly amount: string;
  readonly currency: string | null;
}

/**
 * The one amount that a `plain` text speaks of; null when there is none, or more than one. What stands beside a currency goes
 * before what has cents, and that before a lone number.
 */
export function findMoney(text: string): Money | null {
  const marked = [...text.matchAll(MARKED)].map((match) => {
    const [one, other] = match.slice(1).filter((group) => group !== undefined) as [string, string];
    const [number, mark] = /^\d/.test(one) ? [one, other] : [other, one];
    return { amount: readNumber(number), currency: currencyOf(mark) };
  });
  if (marked.length > 0) return only(marked);
  const bare = [...text.matchAll(BARE)].map(([number]) => number);
  const withCents = bare.filter((number) => /^\d[.,]\d\d$/.test(number.slice(-4)));
  const read = withCents.length > 0 ? withCents : bare;
  return only(read.map((number) => ({ amount: readNumber(number), currency: null })));
}

/** `1,234.50`, `1.234,50`, `4,5` or `12` as plain decimal text; null where the marks can be read in two ways. */
export function readNumber(written: string): string | null {
  if (/^\d{1,15}$/.test(written)) return trimmed(written);
  const grouped = /^([1-9]\d{0,2}(?:([.,])\d{3})(?:\2\d{3}){0,3})(?:(?!\2)[.,](\d{1,2}))?$/.exec(written);
  // 1.234 is a thousand and more to some, and one and a little to others.
  const isOpen = grouped?.[2] === "." && grouped[3] === undefined && written.split(".").length === 2;
  if (grouped && !isOpen) {
    const [, whole = "", mark = "", cents] = grouped;
    return whole.replaceAll(mark, "") + (cents === undefined ? "" : `.${cents}`);
  }
  const [, whole = "", cents] = /^(\d{1,15})[.,](\d{1,2})$/.exec(written) ?? [];
  return cents === undefined ? null : `${trimmed(whole)}.${cents}`;
}

function trimmed(digits: string): string {
  return digits.replace(/^0+(?=\d)/, "");
}

function currencyOf(mark: string): string {
  return CURRENCIES[mark] ?? mark.toUpperCase();
}

function only(found: readonly { amount: string | null; currency: string | null }[]): Money | null {
  const [amount = null, ...others] = new Set(found.map((each) => each.amount));
  const [currency = null, ...further] = new Set(found.map((each) => each.currency));
  if (amount === null || others.length > 0) return null;
  return { amount, currency: further.length > 0 ? null : currency };
}
