import { language } from "../language/language.ts";
import { useHalfMinute } from "./clock.ts";
import { relativeTime } from "./durations.ts";

const exact = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });

/** When something happened, in words; the exact local time is in its title. */
export function TimeAgo({ at }: { readonly at: string }) {
  const then = Date.parse(at);
  return (
    <time dateTime={at} title={exact.format(then)}>
      {relativeTime(then, useHalfMinute())}
    </time>
  );
}

/** The exact local time. */
export function ExactTime({ at }: { readonly at: string }) {
  return <time dateTime={at}>{exact.format(Date.parse(at))}</time>;
}
