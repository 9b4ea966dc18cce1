import styles from "./Countdown.module.css";
import { classes } from "./classes.ts";
import { useSecond } from "./clock.ts";
import { clockFace, spokenDuration } from "./durations.ts";

/** The last part of the time, in milliseconds, which is coloured as a warning. */
export const SHORT = 30_000;

/**
 * Time that is left until an RFC 3339 instant, by the gateway's clock; what happens then is for the gateway to say. The face
 * changes each second without being announced: `role="timer"` is silent by itself.
 */
export function Countdown({ until, label }: { readonly until: string; readonly label: string }) {
  // The clock says the second that has begun, so what is left of it is not one more: 2 minutes begin at 2:00 and not at 2:01.
  const left = Math.floor((Date.parse(until) - useSecond()) / 1_000) * 1_000;
  return (
    <span role="timer" className={classes(styles.countdown, left <= SHORT && styles.short)}>
      {label}{" "}
      <span className={styles.face} aria-hidden="true">
        {clockFace(left)}
      </span>
      <span className="visually-hidden">{spokenDuration(left)}</span>
    </span>
  );
}
