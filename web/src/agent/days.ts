import { isoDayAt } from "./iso-day.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";

/*
 * Days as people name them, as ISO days in the calendar of whoever speaks. A day has no time zone: the caller says which day
 * it is where the person is, and everything here counts from there.
 */

/** Years within which every day of the year comes round, 29 February at the turn of a century included. */
const LEAP_CYCLE = 8;
const DAY_MS = 86_400_000;

/** The day that a word tells by how far it is away, such as "yesterday". */
export function dayAway(name: string, today: string): string {
  return isoDayAt(shifted(Date.parse(today), vocabulary.nearDays[name] as number));
}

/** A place in a text that names a day. `day` is an ISO day, or null where the words leave open which one. */
export interface NamedDay {
  readonly start: number;
  readonly end: number;
  readonly day: string | null;
}

/** A text as the readers of days and amounts want it: lower case, one space at a time. Other readers' offsets fit it. */
export function plain(text: string): string {
  return text.replace(/[ \t\r\n\u00a0]+/g, " ").toLowerCase();
}

/**
 * Every day that a `plain` text names, in order. A weekday or a day without a year is the nearest one behind `today`, or with
 * `ahead` the nearest one before us.
 */
export function findDays(text: string, today: string, ahead: boolean): NamedDay[] {
  const found: NamedDay[] = [];
  const taken = new Uint8Array(text.length);
  for (const [pattern, read] of FORMS)
    for (const match of text.matchAll(pattern)) {
      const [start, end] = [match.index, match.index + match[0].length];
      if (taken.subarray(start, end).includes(1)) continue;
      taken.fill(1, start, end);
      const day = read(match.slice(1), Date.parse(today), ahead);
      found.push({ start, end, day: day === null ? null : isoDayAt(day) });
    }
  return found.sort((one, other) => one.start - other.start);
}

/** From the groups of a form to midnight UTC of the day it names. */
type Read = (groups: readonly (string | undefined)[], today: number, ahead: boolean) => number | null;

const near: Read = ([name = ""], today) => shifted(today, vocabulary.nearDays[name] as number);
const ago: Read = ([count, unit], today) => shifted(today, -daysIn(count, unit));
const ahead: Read = ([count, unit], today) => shifted(today, daysIn(count, unit));

const weekday: Read = ([which, name = ""], today, isAhead) => {
  const away = vocabulary.weekdays.indexOf(name) - ((new Date(today).getUTCDay() + 6) % 7);
  switch (which) {
    case "last":
      return shifted(today, away < 0 ? away : away - 7);
    case "next":
      return shifted(today, away > 0 ? away : away + 7);
    case "this":
      return shifted(today, away);
    default:
      // On a Friday, "Friday" may be today or a week away.
      if (away === 0) return null;
      return shifted(today, isAhead ? (away + 7) % 7 : ((away + 7) % 7) - 7);
  }
};

const inYear = (year: string | undefined, month = "", day = "", today = 0, isAhead = false): number | null => {
  const number = vocabulary.months.findIndex((names) => names.includes(month)) + 1;
  if (year !== undefined) return valid(Number(year), number, Number(day));
  const present = new Date(today).getUTCFullYear();
  for (let away = 0; away <= LEAP_CYCLE; away++) {
    const met = valid(isAhead ? present + away : present - away, number, Number(day));
    if (met !== null && (isAhead ? met >= today : met <= today)) return met;
  }
  return null;
};

const dayMonth: Read = ([day, month, year], today, isAhead) => inYear(year, month, day, today, isAhead);
const monthDay: Read = ([month, day, year], today, isAhead) => inYear(year, month, day, today, isAhead);
const iso: Read = ([year, month, day]) => valid(Number(year), Number(month), Number(day));
const dotted: Read = ([day, month, year]) => valid(Number(year), Number(month), Number(day));

const COUNT = `(\\d{1,4}|${anyOf(Object.keys(vocabulary.numberWords))}) (day|week)s?`;
const MONTH = `(${anyOf(vocabulary.months.flat())})\\.?`;
const MONEY = `(?! ?(?:${anyOf(Object.keys(vocabulary.currencySigns))}|${anyOf(vocabulary.currencyStems)}))`;
const YEAR = `(?:,? ((?:19|20)\\d\\d)\\b${MONEY})?`;

/** Longer forms first: what one has read, the next does not read again. Names of files and addresses name no day. */
const FORMS: readonly (readonly [RegExp, Read])[] = (
  [
    ["([12]\\d{3})-(\\d\\d)-(\\d\\d)", iso],
    ["(\\d\\d?)\\.(\\d\\d?)\\.((?:19|20)\\d\\d)", dotted],
    [`(?:the )?(\\d\\d?)(?:st|nd|rd|th)? (?:of )?${MONTH}${YEAR}`, dayMonth],
    [`${MONTH} (\\d\\d?)(?:st|nd|rd|th)?${MONEY}${YEAR}`, monthDay],
    [`${COUNT} ago`, ago],
    [`${COUNT} from (?:now|today)`, ahead],
    [`in ${COUNT}`, ahead],
    [`(${anyOf(Object.keys(vocabulary.nearDays))})`, near],
    [`(?:(last|next|this|on) )?(${anyOf(vocabulary.weekdays)})`, weekday],
  ] as const
).map(([form, read]) => [new RegExp(`(?<![\\w./:@-])${form}(?![\\w/@-]|\\.\\w)`, "g"), read]);

function daysIn(count = "", unit = ""): number {
  const number = vocabulary.numberWords[count] ?? Number(count);
  return number * (unit === "week" ? 7 : 1);
}

function shifted(day: number, days: number): number {
  return day + days * DAY_MS;
}

/** Midnight UTC of a day, or null when there is no such day. */
function valid(year: number, month: number, day: number): number | null {
  const text = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
  const met = Date.parse(text);
  return Number.isNaN(met) || isoDayAt(met) !== text ? null : met;
}
