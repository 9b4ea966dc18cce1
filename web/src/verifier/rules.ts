/**
 * What holds for every log that a gateway wrote, and no single hash can show: nothing ran without its intent, no intent without
 * the approval that it names, no approval counts twice, no call closes twice, no grant covers more than was shown.
 */

import { digestOf } from "./bytes.ts";
import { RECORDED_EVENTS } from "./events.ts";
import {
  agree,
  isJsonObject,
  isList,
  type Json,
  type JsonObject,
  Malformed,
  member,
  need,
  needFlag,
  needNumber,
  needObject,
  needText,
  needTexts,
  parseJson,
  same,
  writeCanonical,
} from "./json.ts";
import { type GrantPattern, isInside, isReadOff, readPattern } from "./patterns.ts";
import { signedDigest } from "./plans.ts";
import { Quorums } from "./quorum.ts";
import { readChallenge } from "./webauthn.ts";

/** A tool of a snapshot, as far as calls are judged by it. */
export interface OfferedTool {
  readonly descriptorDigest: string;
  readonly permission: string;
}

export type Offers = ReadonlyMap<string, ReadonlyMap<string, OfferedTool>>;

interface Approval {
  readonly call: string;
  readonly body: JsonObject;
  /** Canonical JSON; null once its payload was erased. */
  readonly args: string | null;
  approved: boolean;
  resolved: boolean;
}

interface Grant {
  readonly body: JsonObject;
  /** Canonical JSON by argument; null once its payload was erased. */
  readonly pins: JsonObject | null;
  readonly freed: readonly string[];
  readonly within: GrantPattern | null;
  uses: number;
  revoked: boolean;
}

/** Which decisions let a call run, and under which permissions of the snapshot. Null: the call waited across a restart. */
const ENOUGH: ReadonlyMap<Json, readonly Json[]> = new Map<Json, readonly Json[]>([
  ["auto", ["auto"]],
  ["consented", ["auto", "consent", null]],
  ["step-up-succeeded", ["auto", "consent", "stepUp", null]],
]);

const PEOPLE = new Set([
  "principal:enrolled",
  "local-operator:added",
  "principal:profile-changed",
  "principal:suspended",
  "principal:resumed",
  "principal:removed",
  "passkey:removed",
]);

/** The tools of each snapshot. Throws Malformed for what no gateway writes. */
export function readOffer(snapshot: JsonObject): ReadonlyMap<string, OfferedTool> {
  const tools = need(snapshot, "tools");
  if (!isList(tools)) throw new Malformed("`tools` is no list");
  return new Map(
    tools.map((tool) => {
      if (!isJsonObject(tool)) throw new Malformed("a tool is no object");
      const offered = { descriptorDigest: needText(tool, "digest"), permission: needText(tool, "permission") };
      return [needText(tool, "name"), offered] as const;
    }),
  );
}

/** Reads record after record and says of each what is wrong with it, or null. Throws Malformed for one that no gateway writes. */
export class Rules {
  calls = 0;
  executed = 0;
  private readonly offers: Offers;
  private readonly quorums: Quorums;
  /** How each call closed. */
  private readonly closed = new Map<string, Json>();
  /** Which call each one follows. */
  private readonly after = new Map<string, string>();
  private readonly whole: boolean;
  private readonly waiting = new Set<string>();
  private readonly running = new Set<string>();
  private leftOver = new Set<string>();
  private readonly approvals = new Map<string, Approval>();
  private readonly grants = new Map<string, Grant>();
  private readonly snapshots = new Map<string, string>();

  constructor(offers: Offers, whole: boolean) {
    this.offers = offers;
    this.whole = whole;
    this.quorums = new Quorums(whole);
  }

  /** Calls that wait or run at this point. */
  get openCalls(): number {
    return this.waiting.size + this.running.size;
  }

  check(body: JsonObject, payload: JsonObject | null): string | null {
    const event = needText(body, "event");
    switch (event) {
      case "call:intended":
        return this.intend(body, payload);
      case "call:closed":
        this.noteOrder(body);
        return this.close(body, need(body, "outcome"), needFlag(body, "executed"));
      case "call:found-unknown":
        return this.close(body, "executionError", true);
      case "call:refused":
        this.calls++;
        return null;
      case "turn:begun":
      case "snapshot:issued":
        this.snapshots.set(needText(body, "snapshotDigest"), turnOf(body));
        return null;
      case "approval:requested":
        return this.request(body, payload);
      case "approval:resolved":
        return this.resolve(body, payload);
      case "approval:given":
        return this.quorums.give(body, payload);
      case "approval:break-glass":
        return this.quorums.breakGlass(body, payload);
      case "grant:issued":
        return this.grant(body, payload);
      case "grant:revoked": {
        const grant = this.grants.get(needText(body, "grantId"));
        if (grant !== undefined) grant.revoked = true;
        return null;
      }
      case "gateway:started":
        // Recovery closes what the run before left running, in the same transaction or before it.
        this.leftOver = new Set(this.running);
        return null;
      default:
        if (PEOPLE.has(event)) this.quorums.notePerson(body);
        else if (!RECORDED_EVENTS.has(event)) throw new Malformed(`there is no event \`${event}\``);
        return null;
    }
  }

  /** What is wrong with a log that ends here. Calls of the last run may be under way. */
  finish(): string | null {
    if (this.leftOver.size === 0) return null;
    const [call] = [...this.leftOver].sort();
    const [, callId] = JSON.parse(call ?? "[]") as string[];
    return `call \`${callId}\` was left running by an earlier run and never closed`;
  }

  private request(body: JsonObject, payload: JsonObject | null): string | null {
    const call = callOf(body);
    if (this.closed.has(call) || this.waiting.has(call) || this.running.has(call)) {
      return `call \`${needText(body, "callId")}\` asks for approval again`;
    }
    const id = needText(body, "approvalId");
    let args: string | null = null;
    if (payload !== null) {
      const statement = needObject(payload, "statement");
      if (digestOf(writeCanonical(statement)) !== need(body, "statementDigest") || !states(statement, body, payload)) {
        return `the statement of approval \`${id}\` is not about its call`;
      }
      args = writeCanonical(need(statement, "arguments"));
    }
    this.noteOrder(body);
    this.waiting.add(call);
    this.approvals.set(id, { call, body, args, approved: false, resolved: false });
    return this.quorums.ask(body, payload);
  }

  private resolve(body: JsonObject, payload: JsonObject | null): string | null {
    const id = needText(body, "approvalId");
    const approval = this.approvals.get(id);
    if (approval === undefined || approval.resolved || approval.call !== callOf(body)) {
      return `approval \`${id}\` was not pending when it was resolved`;
    }
    approval.resolved = true;
    if (need(body, "status") !== "approved") {
      this.quorums.close(id);
      return null;
    }
    if (need(body, "principalId") === null || needNumber(body, "at") >= needNumber(approval.body, "expiresAt")) {
      return `approval \`${id}\` was given by nobody, or too late`;
    }
    if (need(approval.body, "kind") === "stepUp" && !this.quorums.isAlone(id)) {
      const digest = needText(approval.body, "statementDigest");
      const signed = payload === null || readChallenge(need(payload, "assertion")) === signedDigest(payload, digest);
      if (need(body, "credentialId") === null || !signed) {
        return `no passkey signed the statement of approval \`${id}\``;
      }
    }
    approval.approved = true;
    return this.quorums.approve(body, payload);
  }

  private grant(body: JsonObject, payload: JsonObject | null): string | null {
    const id = needText(body, "grantId");
    const approval = this.approvals.get(needText(body, "approvalId"));
    if (approval === undefined || !approval.approved || need(approval.body, "kind") !== "consent") {
      return `grant \`${id}\` rests on no consent`;
    }
    if (!agree(approval.body, body, ["sessionId", "conversationId", "tool", "descriptorDigest"])) {
      return `grant \`${id}\` is about something else than its approval`;
    }
    const grant: Grant = {
      body,
      pins: payload === null ? null : needObject(payload, "pins"),
      freed: payload === null ? [] : needTexts(payload, "freed"),
      within: payload === null ? null : readPattern(member(payload, "within")),
      uses: 0,
      revoked: false,
    };
    if (payload !== null && approval.args !== null && !wasShown(grant, parseJson(approval.args) as JsonObject)) {
      return `grant \`${id}\` covers more than what was shown`;
    }
    this.grants.set(id, grant);
    return null;
  }

  private intend(body: JsonObject, payload: JsonObject | null): string | null {
    const call = callOf(body);
    const leftOver = this.finish();
    if (leftOver !== null) return leftOver;
    if (this.closed.has(call) || this.running.has(call))
      return `call \`${needText(body, "callId")}\` is intended again`;
    const fault =
      this.findFaultInOffer(body) ?? this.findFaultInOrder(body) ?? this.findFaultInAuthority(call, body, payload);
    this.waiting.delete(call);
    this.running.add(call);
    return fault;
  }

  private findFaultInOffer(body: JsonObject): string | null {
    const snapshot = needText(body, "snapshotDigest");
    const callId = needText(body, "callId");
    if (this.snapshots.get(snapshot) !== turnOf(body))
      return `call \`${callId}\` names a snapshot that its turn never had`;
    const tools = this.offers.get(snapshot);
    if (tools === undefined) return null;
    const offer = tools.get(needText(body, "tool"));
    const permission = need(body, "permission");
    const fits =
      offer !== undefined &&
      offer.descriptorDigest === need(body, "descriptorDigest") &&
      (permission === null || permission === offer.permission);
    return fits ? null : `tool \`${needText(body, "tool")}\` was not on offer as call \`${callId}\` has it`;
  }

  private noteOrder(body: JsonObject): void {
    const after = member(body, "after");
    if (after !== undefined) this.after.set(callOf(body), String(after));
  }

  /** Whether the call that this one follows went well. One that a person turned down is passed over. */
  private findFaultInOrder(body: JsonObject): string | null {
    let earlier = member(body, "after");
    while (earlier !== undefined) {
      const before = callOf({ ...body, callId: earlier });
      const outcome = this.closed.get(before);
      const isUnknown = outcome === undefined && !this.whole && !this.waiting.has(before);
      if (outcome === "ok" || isUnknown) return null;
      if (outcome !== "deniedByUser") {
        return `call \`${needText(body, "callId")}\` ran although call \`${earlier}\` before it had not gone well`;
      }
      earlier = this.after.get(before);
    }
    return null;
  }

  private findFaultInAuthority(call: string, body: JsonObject, payload: JsonObject | null): string | null {
    const decision = need(body, "decision");
    const approvalId = need(body, "approvalId");
    const grantId = need(body, "grantId");
    const callId = needText(body, "callId");
    if (!ENOUGH.get(decision)?.includes(need(body, "permission")))
      return `\`${decision}\` is not enough to run call \`${callId}\``;
    if (decision === "auto") return null;
    if (typeof approvalId === "string") return this.spendApproval(approvalId, call, body, payload);
    if (typeof grantId === "string" && decision === "consented") return this.spendGrant(grantId, body, payload);
    return `call \`${callId}\` names no approval and no grant`;
  }

  private spendApproval(id: string, call: string, body: JsonObject, payload: JsonObject | null): string | null {
    const approval = this.approvals.get(id);
    const callId = needText(body, "callId");
    if (approval === undefined || !approval.approved || approval.call !== call) {
      return `call \`${callId}\` ran on an approval that was not given for it`;
    }
    const decides = need(approval.body, "kind") === "stepUp" ? "step-up-succeeded" : "consented";
    if (decides !== need(body, "decision")) return `call \`${callId}\` needed another kind of approval`;
    const shown =
      agree(approval.body, body, ["sessionId", "turnId", "tool", "descriptorDigest"]) &&
      (payload === null || approval.args === null || writeCanonical(need(payload, "arguments")) === approval.args);
    return shown ? null : `call \`${callId}\` is not what approval \`${id}\` showed`;
  }

  private spendGrant(id: string, body: JsonObject, payload: JsonObject | null): string | null {
    const grant = this.grants.get(id);
    const callId = needText(body, "callId");
    const held =
      grant !== undefined &&
      !grant.revoked &&
      needNumber(body, "at") < needNumber(grant.body, "expiresAt") &&
      grant.uses < needNumber(grant.body, "maxUses");
    if (!held) return `call \`${callId}\` ran on a grant that did not hold`;
    grant.uses++;
    const turn = need(grant.body, "turnId");
    const covered =
      agree(grant.body, body, ["sessionId", "conversationId", "tool", "descriptorDigest"]) &&
      (turn === null || turn === need(body, "turnId")) &&
      (payload === null || covers(grant, needObject(payload, "arguments")));
    return covered ? null : `call \`${callId}\` is not what grant \`${id}\` covers`;
  }

  private close(body: JsonObject, outcome: Json, ran: boolean): string | null {
    const call = callOf(body);
    const callId = needText(body, "callId");
    if (this.closed.has(call)) return `call \`${callId}\` is closed twice`;
    if (ran && !this.running.has(call)) return `call \`${callId}\` ran without an intent on record`;
    this.waiting.delete(call);
    this.running.delete(call);
    this.leftOver.delete(call);
    this.closed.set(call, outcome);
    this.calls++;
    if (ran) this.executed++;
    return null;
  }
}

function callOf(body: JsonObject): string {
  return JSON.stringify([needText(body, "conversationId"), needText(body, "callId")]);
}

function turnOf(body: JsonObject): string {
  return JSON.stringify([need(body, "conversationId"), need(body, "turnId")]);
}

/** Which call a statement says that its own follows. */
function placeOf(statement: JsonObject): Json {
  const place = member(statement, "plan");
  return isJsonObject(place) ? need(place, "after") : null;
}

/** Whether a statement is about exactly this call. */
function states(statement: JsonObject, body: JsonObject, payload: JsonObject): boolean {
  const about = ["approvalId", "kind", "sessionId", "conversationId", "turnId", "callId", "tool", "snapshotDigest"];
  return (
    agree(statement, body, [...about, "descriptorDigest", "policyVersion"]) &&
    same(need(statement, "principal"), need(body, "principalId")) &&
    same(placeOf(statement), member(body, "after") ?? null) &&
    same(need(statement, "arguments"), need(payload, "arguments"))
  );
}

/** Whether arguments are the pinned ones, and otherwise only the freed. */
function covers({ pins, freed, within }: Grant, args: JsonObject): boolean {
  if (pins === null) return true;
  const bound = Object.keys(args).filter((name) => !freed.includes(name));
  if (!same(bound.toSorted(), Object.keys(pins).toSorted())) return false;
  if (within !== null && !isInside(within, member(args, within.argument))) return false;
  return bound.every((name) => writeCanonical(need(args, name)) === need(pins, name));
}

function wasShown(grant: Grant, args: JsonObject): boolean {
  const { freed, within } = grant;
  const readOff = within === null || (freed.includes(within.argument) && isReadOff(within, args));
  return covers(grant, args) && freed.every((name) => Object.hasOwn(args, name)) && readOff;
}
