import canonicalize from "canonicalize";
import { t } from "../../../language/t.ts";
import type { Approval, ApprovalQuestion } from "../../../protocol/generated.ts";
import { hashText, toHex } from "../../../ui/sha256.ts";

/** What this browser computed about a question itself, before a person may answer it. */
export interface Inspection {
  /** The canonical JSON (RFC 8785) of the statement as received: exactly what is signed. */
  readonly canonical: string;
  /** SHA-256 of those bytes, computed here. */
  readonly hash: Uint8Array<ArrayBuffer>;
  readonly digest: string;
  /** One sentence for each difference. Empty: what is shown is what is signed. */
  readonly mismatches: readonly string[];
}

/**
 * Recomputes the digest and compares what the page shows with what would be signed. The gateway is trusted with both, so a
 * mismatch means that something between the two is broken or hostile, and nobody may approve it.
 */
export async function inspect({ approval, statement }: ApprovalQuestion): Promise<Inspection> {
  const canonical = canonicalText(statement);
  const hash = await hashText(canonical);
  const digest = toHex(hash);
  return { canonical, hash, digest, mismatches: findMismatches(approval, statement, digest) };
}

/** Canonical JSON of any JSON value. */
export function canonicalText(value: unknown): string {
  return canonicalize(value) ?? "";
}

/** Base64url without padding: the form of a challenge in WebAuthn's JSON. */
export function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function findMismatches(approval: Approval, statement: ApprovalQuestion["statement"], digest: string): string[] {
  const mismatches: string[] = [];
  if (digest !== approval.statementDigest) {
    mismatches.push(t`The digest of the statement, computed in this browser, is not the one the gateway announced.`);
  }
  const shown = {
    approvalId: approval.id,
    kind: approval.kind,
    tool: approval.tool,
    arguments: approval.arguments,
    conversationId: approval.conversationId,
    turnId: approval.turnId,
    callId: approval.callId,
    expiresAt: approval.expiresAt,
  };
  for (const [member, value] of Object.entries(shown)) {
    if (canonicalText(value) !== canonicalText(statement[member])) {
      mismatches.push(t`The ${WORDS[member] ?? member} on this page is not the one in the statement.`);
    }
  }
  if (canonicalText(approval.plan ?? null) !== canonicalText(statement.plan ?? null)) {
    mismatches.push(t`Which call this one follows on this page is not what the statement says.`);
  }
  if (canonicalText(shownApprovers(approval)) !== canonicalText(signedApprovers(statement))) {
    mismatches.push(t`Who has to approve on this page is not who has to in the statement.`);
  }
  return mismatches;
}

/** How many people it takes, and whether one may act alone, as the page says it. */
function shownApprovers({ needs }: Approval) {
  return { needed: needs.approvers, breakGlass: needs.breakGlass ?? false };
}

/** The same as the statement says it: one person, who may not act alone where nobody else is asked, says nothing. */
function signedApprovers({ approvers }: ApprovalQuestion["statement"]) {
  const { needed, breakGlass } = (approvers ?? { needed: 1, breakGlass: false }) as Readonly<Record<string, unknown>>;
  return { needed, breakGlass };
}

const WORDS: Readonly<Record<string, string>> = {
  approvalId: t`approval`,
  kind: t`kind of approval`,
  tool: t`tool`,
  arguments: t`set of arguments`,
  conversationId: t`conversation`,
  turnId: t`turn`,
  callId: t`call`,
  expiresAt: t`time of expiry`,
};
