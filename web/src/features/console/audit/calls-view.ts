import { t } from "../../../language/t.ts";
import type { CallChoices, CallFilter } from "../../../protocol/generated.ts";
import { cutText } from "./cut-text.ts";

/** Which calls are shown and how, as written in the address: a view can be bookmarked, saved and sent. An empty text: any. */
export interface CallsView {
  /** One of `RANGES`, unless `from` and `to` say it exactly. */
  readonly range: string;
  /** RFC 3339. */
  readonly from: string;
  readonly to: string;
  readonly person: string;
  readonly tool: string;
  readonly source: string;
  readonly outcome: string;
  readonly decision: string;
  readonly model: string;
  readonly label: string;
  readonly rule: string;
  readonly policy: string;
  readonly conversation: string;
  readonly text: string;
  /** `conversation` where calls are grouped by conversation and turn. */
  readonly group: string;
}

const HOUR = 3_600_000;
const DEFAULT_RANGE = "24h";

/** Value, words and length of each time that ends now. */
export const RANGES: readonly (readonly [string, string, number])[] = [
  ["1h", t`Last hour`, HOUR],
  [DEFAULT_RANGE, t`Last 24 hours`, 24 * HOUR],
  ["7d", t`Last 7 days`, 7 * 24 * HOUR],
  ["30d", t`Last 30 days`, 30 * 24 * HOUR],
  ["400d", t`Last 400 days`, 400 * 24 * HOUR],
];

export const DECISIONS: readonly (readonly [string, string])[] = [
  ["auto", t`Ran by itself`],
  ["consented", t`Allowed by a person`],
  ["step-up-succeeded", t`Signed with a passkey`],
  ["step-up-failed", t`Passkey did not verify`],
  ["denied", t`Denied`],
  ["forbidden", t`Forbidden`],
];

export const CALL_LABELS: readonly (readonly [NonNullable<CallFilter["label"]>, string])[] = [
  ["public", t`Public`],
  ["internal", t`Internal`],
  ["confidential", t`Confidential`],
  ["high", t`High`],
];

export const EMPTY_VIEW: CallsView = {
  range: DEFAULT_RANGE,
  from: "",
  to: "",
  person: "",
  tool: "",
  source: "",
  outcome: "",
  decision: "",
  model: "",
  label: "",
  rule: "",
  policy: "",
  conversation: "",
  text: "",
  group: "",
};

/** What narrows a view, with the word that stands before the value. */
export const NARROWING: readonly (readonly [keyof CallsView, string])[] = [
  ["person", t`Person`],
  ["tool", t`Tool`],
  ["source", t`Source`],
  ["outcome", t`Outcome`],
  ["decision", t`Decision`],
  ["model", t`Model`],
  ["label", t`Label`],
  ["rule", t`Rule`],
  ["policy", t`Policy`],
  ["conversation", t`Conversation`],
  ["text", t`Text`],
];

const MOMENT = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether there is such a time: an address may also name the 30th of February. */
function isMoment(text: string): boolean {
  const at = Date.parse(text);
  return MOMENT.test(text) && !Number.isNaN(at) && new Date(at).toISOString() === text;
}

export function readCallsView(search: string): CallsView {
  const params = new URLSearchParams(search);
  const read = (name: string) => cutText(params.get(name) ?? "", 200);
  const view = Object.fromEntries(Object.keys(EMPTY_VIEW).map((name) => [name, read(name)])) as unknown as CallsView;
  const exact = isMoment(view.from) && isMoment(view.to) && view.from < view.to;
  return {
    ...view,
    from: exact ? view.from : "",
    to: exact ? view.to : "",
    range: RANGES.some(([range]) => range === view.range) ? view.range : DEFAULT_RANGE,
    label: CALL_LABELS.some(([label]) => label === view.label) ? view.label : "",
    group: view.group === "conversation" ? "conversation" : "",
  };
}

/** What an address asks for that no view has, as it stands there: it is left out, which must not look like an answer to it. */
export function leftOutOf(search: string): readonly string[] {
  const view = readCallsView(search);
  return [...new URLSearchParams(search)]
    .filter(([name, value]) => value !== "" && (!Object.hasOwn(view, name) || view[name as keyof CallsView] !== value))
    .map(([name, value]) => cutText(`${name}=${value}`, 200));
}

/** What narrows a view to nothing, because no call has it; each with its word. */
export function unknownIn(view: CallsView, choices: CallChoices): readonly (readonly [word: string, value: string])[] {
  const known: Partial<Record<keyof CallsView, readonly string[]>> = {
    person: choices.people.map(({ id }) => id),
    tool: choices.tools,
    source: choices.sources,
    model: choices.models,
    rule: choices.rules,
    policy: choices.policyVersions,
  };
  return NARROWING.filter(([name]) => view[name] !== "" && known[name]?.includes(view[name]) === false).map(
    ([name, word]) => [word, view[name]],
  );
}

export function writeCallsView(view: CallsView): string {
  const said = Object.entries(view).filter(([name, value]) => value !== "" && value !== EMPTY_VIEW[name as "range"]);
  const search = new URLSearchParams(said).toString();
  return search === "" ? "" : `?${search}`;
}

/** Whether anything but the time narrows it. */
export function isNarrowed(view: CallsView): boolean {
  return NARROWING.some(([name]) => view[name] !== "");
}

/** The filter of `audit/calls`; `now` is in epoch milliseconds. A time that ends now has no end: calls go on coming in. */
export function callFilterOf(view: CallsView, now: number): CallFilter {
  const length = RANGES.find(([range]) => range === view.range)?.[2] ?? 24 * HOUR;
  return {
    ...(view.from === "" ? { since: new Date(now - length).toISOString() } : { since: view.from, until: view.to }),
    ...(view.person && { principalId: cutText(view.person, 64) }),
    ...(view.tool && { tool: view.tool }),
    ...(view.source && { source: view.source }),
    ...(view.outcome && { outcome: view.outcome }),
    ...(view.decision && { decision: view.decision }),
    ...(view.model && { modelId: view.model }),
    ...(view.label && { label: view.label as NonNullable<CallFilter["label"]> }),
    ...(view.rule && { rule: view.rule }),
    ...(view.policy && { policyVersion: view.policy }),
    ...(view.conversation && { conversationId: cutText(view.conversation, 64) }),
    ...(view.text && { text: view.text }),
  };
}
