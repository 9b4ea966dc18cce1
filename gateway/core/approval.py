"""Approvals and grants: what a person is asked, what they sign, and what their yes covers.

The statement is the one canonical byte string that the console shows, that a passkey signs (its SHA-256 is the WebAuthn
challenge), that runs and that the log keeps. PSD2's dynamic linking is the precedent: shown, bound, void when changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from gateway.core.canonical import Json, canonical_bytes, digest_of_bytes
from gateway.core.model import ToolRequest
from gateway.core.times import rfc3339
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, GrantScope

STATEMENT_VERSION = 1


@dataclass(frozen=True, slots=True)
class RuleReason:
    """A policy rule that took part in a decision, and the sentence its author wrote for people."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Needs:
    """What it takes to answer yes. `presence` asks for a touch of the passkey even for a consent."""

    presence: bool = False
    approvers: int = 1
    requester_may_approve: bool = True


@dataclass(frozen=True, slots=True)
class Approval:
    """One question to a person. Times are epoch milliseconds; `statement` is canonical bytes."""

    id: str
    kind: ApprovalKind
    principal_id: str
    session_id: str
    conversation_id: str
    turn_id: str
    call_id: str
    tool: str
    arguments: bytes
    summary: str
    effects: tuple[str, ...]
    because: tuple[RuleReason, ...]
    needs: Needs
    offers: tuple[GrantScope, ...]
    statement: bytes
    statement_digest: str
    requested_at: int
    expires_at: int
    status: ApprovalStatus = ApprovalStatus.PENDING

    def wire(self) -> dict[str, Json]:
        """The `Approval` of protocol.md section 4. Holds nothing that could answer it."""
        return {
            "id": self.id,
            "kind": self.kind.value,
            "status": self.status.value,
            "tool": self.tool,
            "arguments": orjson.loads(self.arguments),
            "summary": self.summary,
            "effects": list(self.effects),
            "statementDigest": self.statement_digest,
            "conversationId": self.conversation_id,
            "turnId": self.turn_id,
            "callId": self.call_id,
            "requestedAt": rfc3339(self.requested_at),
            "expiresAt": rfc3339(self.expires_at),
            "needs": {
                "presence": self.needs.presence,
                "approvers": self.needs.approvers,
                "requesterMayApprove": self.needs.requester_may_approve,
            },
            "because": [{"id": rule.id, "why": rule.why} for rule in self.because],
            "offers": [scope.value for scope in self.offers],
        }


def state(
    request: ToolRequest,
    *,
    approval_id: str,
    nonce: str,
    kind: ApprovalKind,
    turn_index: int,
    descriptor_digest: str,
    policy_version: str,
    issued_at: int,
    expires_at: int,
) -> bytes:
    """The canonical statement of protocol.md section 6, over exactly this request."""
    return canonical_bytes(
        {
            "v": STATEMENT_VERSION,
            "approvalId": approval_id,
            "nonce": nonce,
            "kind": kind.value,
            "sessionId": request.session_id,
            "principal": request.principal.id,
            "conversationId": request.conversation_id,
            "turnId": request.turn_id,
            "turnIndex": turn_index,
            "callId": request.call_id,
            "snapshotDigest": request.snapshot_digest,
            "descriptorDigest": descriptor_digest,
            "policyVersion": policy_version,
            "tool": request.tool,
            "arguments": orjson.loads(request.arguments),
            "issuedAt": rfc3339(issued_at),
            "expiresAt": rfc3339(expires_at),
        }
    )


def digest_of_statement(statement: bytes) -> str:
    """Lower-case hex SHA-256: what the console recomputes on screen and what a passkey signs as its challenge."""
    return digest_of_bytes(statement)


@dataclass(frozen=True, slots=True)
class Grant:
    """A yes that lasts: one tool, one session, arguments pinned. Never issued for a step-up.

    `pins` maps argument names to canonical bytes; `freed` names the one argument, if any, that the person let vary. A call
    is covered only if it has exactly the pinned and freed arguments that were on screen, so a grant never widens.
    """

    id: str
    approval_id: str
    principal_id: str
    session_id: str
    conversation_id: str
    turn_id: str | None
    scope: GrantScope
    tool: str
    descriptor_digest: str
    pins: Mapping[str, bytes]
    freed: tuple[str, ...]
    issued_at: int
    expires_at: int
    max_uses: int
    uses: int = 0
    revoked_at: int | None = None

    def covers(self, request: ToolRequest, descriptor_digest: str, now: int) -> bool:
        """Whether this grant allows that request now. A grant for another tool definition covers nothing."""
        if self.revoked_at is not None or now >= self.expires_at or self.uses >= self.max_uses:
            return False
        if (self.session_id, self.tool, self.descriptor_digest) != (request.session_id, request.tool, descriptor_digest):
            return False
        if self.conversation_id != request.conversation_id:
            return False
        if self.turn_id is not None and self.turn_id != request.turn_id:
            return False
        arguments: dict[str, Json] = orjson.loads(request.arguments)
        # An argument that was absent when the person said yes may not appear later, nor one that was there stay away, for
        # then its default would run: both sets of names must agree.
        if set(arguments) != {*self.pins, *self.freed}:
            return False
        return all(canonical_bytes(arguments[name]) == pinned for name, pinned in self.pins.items())

    def wire(self) -> dict[str, Json]:
        """The grant as both origins list it."""
        return {
            "id": self.id,
            "approvalId": self.approval_id,
            "scope": self.scope.value,
            "tool": self.tool,
            "conversationId": self.conversation_id,
            "turnId": self.turn_id,
            "pins": {name: orjson.loads(pinned) for name, pinned in self.pins.items()},
            "freed": list(self.freed),
            "issuedAt": rfc3339(self.issued_at),
            "expiresAt": rfc3339(self.expires_at),
            "uses": self.uses,
            "maxUses": self.max_uses,
        }
