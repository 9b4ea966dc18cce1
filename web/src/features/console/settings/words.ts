import { t } from "../../../language/t.ts";
import type { Setting } from "../../../protocol/generated.ts";

interface SettingWords {
  readonly label: string;
  readonly what: string;
  /** So many of it. */
  readonly count?: (value: number) => string;
}

const seconds = (value: number) => t`${value} {second|seconds}`;

const WORDS: Readonly<Record<string, SettingWords>> = {
  approval_seconds: {
    label: t`Time to answer a question`,
    what: t`How long an approval waits for an answer where the policy says nothing. It holds for questions that come from now on.`,
    count: seconds,
  },
  snapshot_seconds: {
    label: t`Length of a turn`,
    what: t`How long the tools that a turn was given can be called. No question of that turn waits longer.`,
    count: seconds,
  },
  grace_seconds: {
    label: t`Time to come back`,
    what: t`How long a turn whose tab lost the connection can be resumed.`,
    count: seconds,
  },
  sockets_per_session: {
    label: t`Open pages of a session`,
    what: t`How many pages of one sign-in may be connected at once.`,
    count: (value) => t`${value} {page|pages}`,
  },
  enrolment_minutes: {
    label: t`Enrolment links`,
    what: t`How long a link with which somebody registers works.`,
    count: (value) => t`${value} {minute|minutes}`,
  },
  retain_days: {
    label: t`Time until what calls contain is erased`,
    what: t`After so many days, arguments and results are erased; the records of the calls stay. It is decided when a call ends, so earlier calls keep their time. 0 erases at once.`,
    count: (value) => t`${value} {day|days}`,
  },
  drain_seconds: {
    label: t`Time to finish before a stop`,
    what: t`How long running calls may go on after the signal to stop.`,
    count: seconds,
  },
  log_level: {
    label: t`Log of the process`,
    what: t`How much the gateway writes to its own log. The audit log is whole always.`,
  },
};

const PLACES: Readonly<Record<Setting["place"], string>> = {
  default: t`default`,
  console: t`changed here`,
  file: t`set in countersign.toml`,
  environment: t`set in the environment`,
  commandLine: t`set by an option`,
};

export function settingWords(name: string): SettingWords {
  return WORDS[name] ?? { label: name, what: "" };
}

export function placeWords(place: Setting["place"]): string {
  return PLACES[place];
}

/** A value with its unit. */
export function valueWords(name: string, value: number | string): string {
  if (value === "never") return t`never`;
  const { count } = settingWords(name);
  return typeof value === "string" || count === undefined ? String(value) : count(value);
}

/** What a setting may be, as the hint of its field. */
export function boundsWords({ name, least, most, words }: Setting): string | undefined {
  if (least === undefined || most === undefined) return undefined;
  const high = valueWords(name, most);
  return words.length
    ? t`A whole number from ${least} to ${high}, or ${words.join(", ")}.`
    : t`A whole number from ${least} to ${high}.`;
}

/** What was typed, as a value; null where the setting cannot be that. */
export function readValue({ least, most, words }: Setting, typed: string): number | string | null {
  const text = typed.trim();
  if (words.includes(text)) return text;
  if (least === undefined || most === undefined || !/^\d{1,10}$/.test(text)) return null;
  const value = Number(text);
  return value >= least && value <= most ? value : null;
}
