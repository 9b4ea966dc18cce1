import { useHalfMinute } from "./clock.ts";
import { relativeTime } from "./durations.ts";
import { exactMoment } from "./moments.ts";

/** When something happened, in words; the exact local time is in its title. */
export function TimeAgo({ at }: { readonly at: string }) {
  const then = Date.parse(at);
  return (
    <time dateTime={at} title={exactMoment.format(then)}>
      {relativeTime(then, useHalfMinute())}
    </time>
  );
}

/** The exact local time. */
export function ExactTime({ at }: { readonly at: string }) {
  return <time dateTime={at}>{exactMoment.format(Date.parse(at))}</time>;
}
