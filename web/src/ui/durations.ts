import { language } from "../language/language.ts";
import { t } from "../language/t.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `1:05`, or `2:03:09` from an hour on; never below `0:00`. Milliseconds in. */
export function clockFace(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / SECOND));
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** `3 minutes`, the largest whole unit; what a screen reader says instead of a clock face. */
export function spokenDuration(milliseconds: number): string {
  const left = Math.max(0, milliseconds);
  if (left < MINUTE) return t`${Math.ceil(left / SECOND)} {second|seconds}`;
  if (left < HOUR) return t`${Math.ceil(left / MINUTE)} {minute|minutes}`;
  if (left < 2 * DAY) return t`${Math.ceil(left / HOUR)} {hour|hours}`;
  return t`${Math.ceil(left / DAY)} {day|days}`;
}

const tenths = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });

/** `12 ms`, `1.4 s`, `2:05`: what something took, in milliseconds. */
export function shortDuration(milliseconds: number): string {
  if (milliseconds < SECOND) return t`${Math.round(milliseconds)} ms`;
  return milliseconds < MINUTE ? t`${tenths.format(milliseconds / SECOND)} s` : clockFace(milliseconds);
}

/** `5 minutes ago`, `just now`, `in 2 hours`; `then` and `now` are epoch milliseconds. */
export function relativeTime(then: number, now: number): string {
  const apart = then - now;
  const size = Math.abs(apart);
  if (size < 45 * SECOND) return t`just now`;
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  if (size < HOUR) return format.format(Math.round(apart / MINUTE), "minute");
  if (size < DAY) return format.format(Math.round(apart / HOUR), "hour");
  const days = Math.round(apart / DAY);
  if (size < 60 * DAY) return format.format(days, "day");
  // Nobody counts in hundreds of days.
  return size < 730 * DAY
    ? format.format(Math.round(days / 30.44), "month")
    : format.format(Math.round(days / 365.25), "year");
}

/** `1 byte`, `2,048 bytes`. */
export function byteCount(count: number): string {
  return t`${count} {byte|bytes}`;
}
