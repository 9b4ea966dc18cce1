/** Approvals by several people: enough of them, each of whom might, each once, over one digest. */

import { hash, writeHex } from "./bytes.ts";
import {
  canonicalBytes,
  isJsonObject,
  isList,
  type JsonObject,
  Malformed,
  member,
  need,
  needNumber,
  needObject,
  needText,
  same,
} from "./json.ts";
import { signedDigest } from "./plans.ts";
import { readChallenge } from "./webauthn.ts";

interface Given {
  readonly person: string;
  readonly credential: string;
}

interface Question {
  readonly needed: number;
  readonly pool: readonly string[] | null;
  readonly requesterExcluded: boolean;
  readonly breakGlass: boolean;
  readonly requester: string;
  readonly digest: string;
  readonly expiresAt: number;
  /** Null once its payload was erased. */
  readonly statement: JsonObject | null;
  given: readonly Given[];
  alone: string | null;
}

/** Characters of the reason of somebody who acts alone. */
const REASON = { least: 10, most: 500 };

/** The questions to several people so far. Each method gives what is wrong with a record, or null. */
export class Quorums {
  private readonly questions = new Map<string, Question>();
  private readonly operators = new Map<string, boolean>();
  private readonly whole: boolean;

  /** `whole`: the log is read from its beginning, so whoever is in no record of it is nobody. */
  constructor(whole: boolean) {
    this.whole = whole;
  }

  /** Somebody came, went, or is not what they were. */
  notePerson(body: JsonObject): void {
    const event = body.event;
    if (event === "passkey:removed") {
      const credential = needText(body, "credentialId");
      this.forget((given) => given.credential === credential);
      return;
    }
    const person = needText(body, "principalId");
    const gone = event === "principal:removed" || event === "principal:suspended";
    this.operators.set(person, !gone && need(body, "profile") === "operator");
    this.forget((given) => given.person === person);
  }

  ask(body: JsonObject, payload: JsonObject | null): string | null {
    const described = member(body, "approvers") ?? null;
    const id = needText(body, "approvalId");
    const statement = payload === null ? null : needObject(payload, "statement");
    if (statement !== null && !same(member(statement, "approvers") ?? null, described)) {
      return `the statement of approval \`${id}\` does not say who has to approve`;
    }
    if (described === null) return null;
    if (!isJsonObject(described)) throw new Malformed("`approvers` is no object");
    const pool = need(described, "pool");
    if (pool !== null && !isList(pool)) throw new Malformed("`pool` is no list");
    this.questions.set(id, {
      needed: needNumber(described, "needed"),
      pool: pool === null ? null : pool.map(String),
      requesterExcluded: need(described, "requesterExcluded") === true,
      breakGlass: need(described, "breakGlass") === true,
      requester: needText(body, "principalId"),
      digest: needText(body, "statementDigest"),
      expiresAt: needNumber(body, "expiresAt"),
      statement,
      given: [],
      alone: null,
    });
    return null;
  }

  /** A yes that is not the last. */
  give(body: JsonObject, payload: JsonObject | null): string | null {
    const id = needText(body, "approvalId");
    const question = this.questions.get(id);
    if (question === undefined || missing(question) < 2 || needNumber(body, "at") >= question.expiresAt) {
      return `approval \`${id}\` did not wait for another yes`;
    }
    return this.add(question, body, payload);
  }

  /** Somebody is about to do alone what needs several. */
  breakGlass(body: JsonObject, payload: JsonObject | null): string | null {
    const id = needText(body, "approvalId");
    const person = needText(body, "principalId");
    const question = this.questions.get(id);
    if (question === undefined || !isShared(question) || !question.breakGlass || !this.isOperator(person)) {
      return `nobody might do alone what approval \`${id}\` asked for`;
    }
    if (question.statement !== null && payload !== null) {
      const reason = needText(payload, "reason");
      const signed = hash(canonicalBytes({ ...question.statement, breakGlass: { principal: person, reason } }));
      const told = writeHex(signed) === need(body, "statementDigest") && isReason(reason);
      if (!told || readChallenge(need(payload, "assertion")) !== writeHex(signed)) {
        return `no passkey signed that somebody acts alone on approval \`${id}\`, and why`;
      }
    }
    question.alone = person;
    return null;
  }

  /** The last yes: the question is over. */
  approve(body: JsonObject, payload: JsonObject | null): string | null {
    const id = needText(body, "approvalId");
    const question = this.questions.get(id);
    this.questions.delete(id);
    const alone = member(body, "alone") ?? false;
    if (question === undefined) {
      return alone !== false ? "an approval that one person gives is given alone" : null;
    }
    if (alone !== false || question.alone !== null) {
      const told =
        alone !== false && question.alone === need(body, "principalId") && need(body, "credentialId") !== null;
      return told ? null : `approval \`${id}\` was given alone by nobody who said why`;
    }
    const fault = this.add(question, body, payload);
    if (fault === null && missing(question) > 0) {
      return `approval \`${id}\` took ${question.needed} people and has ${question.given.length}`;
    }
    return fault;
  }

  /** It ended with nobody's approval. */
  close(id: string): void {
    this.questions.delete(id);
  }

  /** Whether somebody has said that they answer that question alone. */
  isAlone(id: string): boolean {
    return (this.questions.get(id)?.alone ?? null) !== null;
  }

  private add(question: Question, body: JsonObject, payload: JsonObject | null): string | null {
    const id = needText(body, "approvalId");
    const person = needText(body, "principalId");
    const credential = need(body, "credentialId");
    if (typeof credential !== "string") return `no passkey answered approval \`${id}\``;
    const isSigned =
      payload === null || readChallenge(need(payload, "assertion")) === signedDigest(payload, question.digest);
    if (question.given.some((each) => each.credential === credential)) {
      return `one passkey answered approval \`${id}\` twice`;
    }
    const counts = missing(question) > 0 && isSigned && this.mayApprove(question, person);
    if (!counts) return `approval \`${id}\` was given by somebody whose yes does not count`;
    question.given = [...question.given, { person, credential }];
    return null;
  }

  private mayApprove(question: Question, person: string): boolean {
    if (question.given.some((each) => each.person === person)) return false;
    if (person === question.requester) {
      return !question.requesterExcluded && (question.pool === null || question.pool.includes(person));
    }
    return isShared(question) && (question.pool === null ? this.isOperator(person) : question.pool.includes(person));
  }

  private isOperator(person: string): boolean {
    return this.operators.get(person) ?? !this.whole;
  }

  private forget(isGone: (given: Given) => boolean): void {
    for (const question of this.questions.values()) question.given = question.given.filter((each) => !isGone(each));
  }
}

function missing(question: Question): number {
  return Math.max(0, question.needed - question.given.length);
}

/** Whether it is for others than the requester alone. */
function isShared({ needed, requesterExcluded, pool }: Question): boolean {
  return needed > 1 || requesterExcluded || pool !== null;
}

function isReason(reason: string): boolean {
  const length = [...reason].length;
  const printable = /^(?:[^\p{C}\p{Z}]| )*$/u.test(reason.replaceAll("\n", " "));
  return reason.trim() === reason && length >= REASON.least && length <= REASON.most && printable;
}
