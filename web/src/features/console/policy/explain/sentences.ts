import { t } from "../../../../language/t.ts";
import type { ExplainedChange } from "../../../../protocol/generated.ts";

const PROFILES: Readonly<Record<string, string>> = {
  operator: t`an operator`,
  guest: t`a guest`,
  anonymous: t`a visitor`,
};
export const WEEKDAYS = [t`Monday`, t`Tuesday`, t`Wednesday`, t`Thursday`, t`Friday`, t`Saturday`, t`Sunday`] as const;

/** The one thing that would be otherwise. Values may come from rules: they are shown as text. */
export function nameDifference({ what, value }: Pick<ExplainedChange, "what" | "value">): string {
  const text = String(value);
  switch (what) {
    case "profile":
      return t`For ${PROFILES[text] ?? text}`;
    case "taint":
      return value === 1 ? t`After untrusted content` : t`Before any untrusted content`;
    case "label":
      return t`In a conversation with the label ${text}`;
    case "recursive":
      return value === true ? t`If it goes into folders` : t`If it does not go into folders`;
    case "minuteOfDay":
      return t`At ${nameMinute(Number(value))}`;
    case "weekday":
      return t`On a ${WEEKDAYS[Number(value) - 1] ?? text}`;
    case "toolsUsed":
      return t`After the tool ${text} ran`;
    case "callsInTurn":
      return t`As call ${text} of its turn`;
    case "callsInSession":
      return t`As call ${text} of its session`;
    default:
      return t`With the ${what} ${text}`;
  }
}

/** A minute of the day as on a clock. */
export function nameMinute(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
}

/** The minute of the day that a clock shows; undefined for what is no time. */
export function readMinute(text: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
}
