import type { AuditEntry } from "../../../protocol/generated.ts";
import { EVENTS, OUTCOMES } from "./filters.ts";

/** What the list shows of a leaf. The leaf's own members are the gateway's closed words and ids; any of them may be absent. */
export interface EntryLine {
  /** RFC 3339. */
  readonly at: string;
  readonly event: string;
  readonly tool: string | undefined;
  /** How a call or an approval ended. */
  readonly outcome: string | undefined;
  /** Why a call came to run, or not to. */
  readonly decision: string | undefined;
}

const EVENT_WORDS = new Map(EVENTS);
const OUTCOME_WORDS = new Map(OUTCOMES);

export function readLine({ body }: AuditEntry): EntryLine {
  const word = (name: string) => (typeof body[name] === "string" ? body[name] : undefined);
  const event = word("event") ?? "unknown";
  const outcome = word("outcome");
  return {
    at: new Date(typeof body.at === "number" ? body.at : 0).toISOString(),
    event: EVENT_WORDS.get(event) ?? readable(event),
    tool: word("tool"),
    outcome:
      outcome === undefined
        ? word("status")
        : [OUTCOME_WORDS.get(outcome) ?? outcome, word("reason")].filter(Boolean).join(", "),
    decision: word("decision"),
  };
}

/** `console-session:renewed` as `console session renewed`. */
function readable(event: string): string {
  return event.replaceAll(/[:-]/g, " ");
}
