/*
 * Apart from `days.ts`, which brings the whole vocabulary: this is in what the shell loads first.
 */

/** `2026-03-09`: the day of a moment where this code runs, which is where the person is. */
export function isoDay(moment: Date): string {
  return isoDayAt(Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate()));
}

/** The same of a midnight UTC, in milliseconds since 1970. */
export function isoDayAt(midnight: number): string {
  return new Date(midnight).toISOString().slice(0, 10);
}
