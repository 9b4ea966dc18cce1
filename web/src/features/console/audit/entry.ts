import { t } from "../../../language/t.ts";
import type { AuditEntry } from "../../../protocol/generated.ts";
import { answerWords, decisionWords, isSaidBy, reasonWords } from "./call-words.ts";
import { eventWords } from "./event-words.ts";
import { OUTCOMES } from "./filters.ts";

/** What the list shows of an entry. Its fields are the gateway's own enums and ids; any of them may be absent. */
export interface EntrySummary {
  /** RFC 3339. */
  readonly at: string;
  readonly event: string;
  readonly tool: string | undefined;
  /** How a call or an approval ended. */
  readonly outcome: string | undefined;
  /** Why a call came to run, or not to. */
  readonly decision: string | undefined;
}

const OUTCOME_WORDS = new Map([
  ...OUTCOMES,
  // Of a request to a model.
  ["completed", t`Completed`],
  ["aborted", t`Broken off`],
  ["failed", t`Failed`],
]);

export function summarize({ body }: AuditEntry): EntrySummary {
  const read = (name: string) => (typeof body[name] === "string" ? body[name] : undefined);
  const event = read("event") ?? "unknown";
  const [outcome, reason, decision, status] = [read("outcome"), read("reason"), read("decision"), read("status")];
  return {
    at: new Date(typeof body.at === "number" ? body.at : 0).toISOString(),
    event: eventWords(event),
    tool: read("tool"),
    outcome: outcome === undefined ? status && answerWords(status) : endingWords(outcome, reason),
    decision: decision === undefined ? undefined : decisionWords(decision),
  };
}

function endingWords(outcome: string, reason: string | undefined): string {
  const ending = OUTCOME_WORDS.get(outcome) ?? outcome;
  return reason === undefined || isSaidBy(outcome, reason) ? ending : `${ending}, ${reasonWords(reason)}`;
}

/** The members of an entry's body as people read them: times as RFC 3339, and nothing where a list is empty. */
export function readableBody(body: AuditEntry["body"]): Readonly<Record<string, unknown>> {
  const told = Object.entries(body).filter(([, value]) => !(Array.isArray(value) && value.length === 0));
  return Object.fromEntries(
    told.map(([name, value]) => [name, isTime(name, value) ? new Date(value).toISOString() : value]),
  );
}

/** The log's times are epoch milliseconds, and their members are called `at` or something that ends so. */
function isTime(name: string, value: unknown): value is number {
  return typeof value === "number" && /(?:^a|A)t$/.test(name);
}
