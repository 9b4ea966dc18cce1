import { language } from "../language/language.ts";

/*
 * Every date and time of the pages, in one form: that of the place where the person lives, as far as the browser says so in the
 * language of the page. So a clock of 12 hours stands beside none of 24.
 */

const region = regionOf(typeof navigator === "undefined" ? [] : navigator.languages);

/** The first of the browser's languages that is the page's, with its region. */
function regionOf(tags: readonly string[]): string {
  return tags.find((tag) => tag.split("-")[0] === language) ?? language;
}

/** A day and a time to the second. */
export const exactMoment = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "medium" });
/** A day and a time to the minute. */
export const shortMoment = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeStyle: "short" });
/** The same without the year, for what was lately. */
export const recentMoment = new Intl.DateTimeFormat(region, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
/** A time to the second, in a row of such. */
export const clockTime = new Intl.DateTimeFormat(region, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const mediumDay = new Intl.DateTimeFormat(region, { dateStyle: "medium" });
export const fullDay = new Intl.DateTimeFormat(region, { dateStyle: "full" });
/** A day as the gateway counts days, in UTC. */
export const utcDay = new Intl.DateTimeFormat(region, { dateStyle: "medium", timeZone: "UTC" });
export const month = new Intl.DateTimeFormat(region, { month: "long", year: "numeric" });
