/** Plans: one answer over the ordered list of several statements' digests, and which of them a record is about. */

import { hash, writeHex } from "./bytes.ts";
import { canonicalBytes, isJsonObject, isList, type JsonObject, Malformed, member, need, needNumber } from "./json.ts";

/** Calls of one plan at most. */
const STEPS = 8;

/**
 * The SHA-256, in hex, that a passkey has to have signed for an answer to that statement: the statement's own, or that of the
 * plan that the record of the answer names. Empty, and so never signed, where the plan is none, or has another statement in that
 * place.
 */
export function signedDigest(payload: JsonObject, statementDigest: string): string {
  const plan = member(payload, "plan");
  if (plan === undefined) return statementDigest;
  if (!isJsonObject(plan)) throw new Malformed("`plan` is no object");
  const statements = need(plan, "statements");
  if (!isList(statements)) throw new Malformed("`statements` is no list");
  const digests = statements.map(String);
  const isPlan = digests.length > 1 && digests.length <= STEPS && new Set(digests).size === digests.length;
  if (!isPlan || digests[needNumber(plan, "index")] !== statementDigest) return "";
  return writeHex(hash(canonicalBytes({ type: "countersign.plan", v: 1, statements: digests })));
}
