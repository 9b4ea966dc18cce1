import { dayAway, findDays, plain } from "./days.ts";
import { telling } from "./entries.ts";
import { anyOf, vocabulary } from "./vocabulary.ts";
import { wordsOf } from "./words.ts";

/*
 * One paper that is told by its day, or by its name and its folder: "the minutes of 11 february", "the rules draft in old". Names of
 * files have days in figures and people say them in words, so what is looked for are the figures.
 */

const PAPERS = anyOf([...vocabulary.documentNouns, ...vocabulary.namedPapers, ...vocabulary.datedPapers]);
const NEAR = anyOf(Object.keys(vocabulary.nearDays));
const UNTOLD: ReadonlySet<string> = new Set([...vocabulary.countedNouns.file, "list"]);
const TOLD_BY_DAY = anyOf([
  ...[...vocabulary.documentNouns, ...vocabulary.namedPapers, ...vocabulary.datedPapers].filter(
    (noun) => !UNTOLD.has(noun),
  ),
  ...["note", "notes"],
]);
const OF_DAY = new RegExp(`\\b(?:(?:the|my|our) )?(${NEAR})['’]s ((?:\\w+ )?(?:${TOLD_BY_DAY}))\\b`, "gi");
const FROM_DAY = new RegExp(`\\b(${TOLD_BY_DAY}) (?:${anyOf(vocabulary.datedBy)}) (${NEAR})\\b`, "gi");
const BEFORE = new RegExp(`\\b(?:\\w+ )?(?:${PAPERS})(?: (?:${anyOf(vocabulary.datedBy)}))?(?: the)? $`);
const AFTER = new RegExp(`^ (?:\\w+ )?(?:${PAPERS})\\b`);
/** Only the day and the month are taken of a day without a year. */
const SOME_DAY = "2024-12-31";
const PLACED = new RegExp(
  `^((?:${anyOf(vocabulary.describedLeads)}) .+?) (?:${anyOf(vocabulary.insideWords)}) ` +
    "(?:(?:the|my|our) )?([A-Za-z][^ ,;?!.]*)(?: (?:folder|directory))?$",
  "i",
);
const DAYS: ReadonlySet<string> = new Set([...vocabulary.weekdays, ...vocabulary.months.flat()]);
const PARTS: ReadonlySet<string> = new Set(vocabulary.questionOpeners.filter((word) => word !== "what"));
const PICKS: ReadonlySet<string> = new Set(Object.values(vocabulary.picks).flat());
const CONTENT: ReadonlySet<string> = new Set([...vocabulary.contentVerbs, ...vocabulary.viewingVerbs]);
const MOST_WORDS = 5;
/** From this day of a month on it stands in no other one: "5 february" is a part of "25 february". */
const CERTAIN = 10;

/**
 * A paper of a day: what is looked for, which is patterns of names first and then its words, and whether a wish only asks to see it.
 */
export interface DatedPaper {
  readonly queries: readonly [string, ...string[]];
  readonly isShown: boolean;
}

/** The paper that a wish tells by its day; null for any other wish. */
export function datedPaper(wish: string): DatedPaper | null {
  const text = plain(wish);
  for (const { start, end, day } of findDays(text, SOME_DAY, false)) {
    const said = text.slice(start, end);
    const [before, after] = [BEFORE.exec(text.slice(0, start))?.[0], AFTER.exec(text.slice(end))?.[0]];
    if (day === null || (before ?? after) === undefined || !/[0-9]/.test(said)) continue;
    const [, month, date] = day.split("-") as [string, string, string];
    const names = new Set([`*${month}-${date}*`, `*${date}-${month}*`]);
    const rest = `${text.slice(0, start - (before ?? "").length)} ${text.slice(end + (after ?? "").length)}`;
    const words = wordsOf(rest).map(({ bare }) => bare);
    const isAsked = words.some((word) => PARTS.has(word) || (!CONTENT.has(word) && telling(word).length > 0));
    const queries = [
      ...(/(?:19|20)[0-9]{2}/.test(said) ? [`*${day}*`] : []),
      ...names,
      ...(Number(date) < CERTAIN ? [] : [`${Number(date)} ${vocabulary.months[Number(month) - 1]?.[0]}`]),
    ] as [string, ...string[]];
    return { queries, isShown: !isAsked };
  }
  return null;
}

/** What a thing is called and the folder it is in: "the rules draft in old"; null where it is told otherwise. */
export function placedPaper(thing: string): { readonly name: string; readonly folder: string } | null {
  const [, name = "", folder = ""] = PLACED.exec(thing) ?? [];
  const words = wordsOf(name).map(({ bare }) => bare);
  const isPlaced = name !== "" && !DAYS.has(folder.toLowerCase()) && words.length <= MOST_WORDS;
  return isPlaced && !words.some((word) => PICKS.has(word)) ? { name, folder: folder.replace(/\/+$/, "") } : null;
}

/** A wish with the day of a paper in figures that it tells by how far away that is, "yesterday's log"; else as it is. */
export function withDay(wish: string, today: string): string {
  const figures = (said: string) => dayAway(said.toLowerCase(), today);
  return wish
    .replaceAll(OF_DAY, (_all, near: string, paper: string) => `the ${paper} of ${figures(near)}`)
    .replaceAll(FROM_DAY, (_all, paper: string, near: string) => `${paper} of ${figures(near)}`);
}
