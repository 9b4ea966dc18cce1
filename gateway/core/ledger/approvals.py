"""Approvals and grants: what a person was asked, how it was resolved, and which grants resulted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from gateway.core.approval import Approval, Grant
from gateway.core.audit import Leaf, base64url, header
from gateway.core.canonical import Json, canonical_bytes, digest_of_bytes
from gateway.core.ledger.requests import describe_call, payload_of_proposal
from gateway.core.model import Snapshot, ToolRequest
from gateway.core.plans import PlanAnswer
from gateway.core.untrusted_text import CopiedText
from gateway.core.vocabulary import ApprovalStatus

__all__ = [
    "ApprovalGiven",
    "ApprovalRequested",
    "ApprovalResolved",
    "AssertionRefused",
    "BreakGlassUsed",
    "GrantIssued",
    "GrantRevoked",
]


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call waits for a person: call row and approval row, durable before anybody is asked."""

    EVENT: ClassVar[str] = "approval:requested"

    at: int
    request: ToolRequest
    snapshot: Snapshot
    approval: Approval
    copies: tuple[CopiedText, ...] = ()
    """What of the arguments was taken from untrusted results, as far as it is shown. In the payload only."""

    def leaf(self) -> Leaf:
        approval = self.approval
        copies = {"copies": [copy.described() for copy in self.copies]} if self.copies else {}
        return Leaf(
            {
                **describe_call(self.EVENT, self.at, self.request, self.snapshot, None),
                "approvalId": approval.id,
                "kind": approval.kind.value,
                "presence": approval.needs.presence,
                "statementDigest": approval.statement_digest,
                "because": [rule.id for rule in approval.because],
                "expiresAt": approval.expires_at,
                **({"approvers": approval.needs.described()} if approval.needs.shared else {}),
            },
            payload_of_proposal(self.request, statement=approval.read_statement(), **copies),
        )


@dataclass(frozen=True, slots=True)
class ApprovalGiven:
    """A yes to a question that takes several: all but the last, which resolves it. It counts for as long as the person keeps
    the profile and the passkey that gave it."""

    EVENT: ClassVar[str] = "approval:given"

    at: int
    approval_id: str
    call_id: str
    conversation_id: str
    approver_id: str
    console_session_id: str
    credential_id: bytes
    assertion: Mapping[str, Json]
    plan: PlanAnswer | None = None
    """The statements that the passkey signed together with this one. In the payload only."""

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.approver_id),
                "conversationId": self.conversation_id,
                "callId": self.call_id,
                "approvalId": self.approval_id,
                "consoleSessionId": self.console_session_id,
                "credentialId": base64url(self.credential_id),
            },
            canonical_bytes({"assertion": self.assertion, **_describe_plan(self.plan)}),
        )


@dataclass(frozen=True, slots=True)
class BreakGlassUsed:
    """An operator does alone what needs several, for a reason; recorded with the resolution that it justifies, before it.
    `statement` is the canonical bytes that their passkey signed: the question's own, with who they are and why."""

    EVENT: ClassVar[str] = "approval:break-glass"

    at: int
    approval_id: str
    call_id: str
    conversation_id: str
    approver_id: str
    console_session_id: str
    credential_id: bytes
    tool: str
    reason: str
    statement: bytes
    assertion: Mapping[str, Json]

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.approver_id),
                "conversationId": self.conversation_id,
                "callId": self.call_id,
                "approvalId": self.approval_id,
                "consoleSessionId": self.console_session_id,
                "credentialId": base64url(self.credential_id),
                "tool": self.tool,
                "statementDigest": digest_of_bytes(self.statement),
            },
            canonical_bytes({"reason": self.reason, "assertion": self.assertion}),
        )


@dataclass(frozen=True, slots=True)
class ApprovalResolved:
    """A person approved or denied, or time or a cancel ended the question. The only way out of pending, and only once.

    `alone`: an operator broke the glass, so that nobody else's yes is needed. `BreakGlassUsed` stands before it then.
    """

    EVENT: ClassVar[str] = "approval:resolved"

    at: int
    approval_id: str
    call_id: str
    conversation_id: str
    status: ApprovalStatus
    approver_id: str | None
    console_session_id: str | None
    credential_id: bytes | None
    assertion: Mapping[str, Json] | None
    detail: str | None = None
    alone: bool = False
    plan: PlanAnswer | None = None
    """What was answered together with it. In the payload only."""

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.approver_id),
                "conversationId": self.conversation_id,
                "callId": self.call_id,
                "approvalId": self.approval_id,
                "status": self.status.value,
                "consoleSessionId": self.console_session_id,
                "credentialId": None if self.credential_id is None else base64url(self.credential_id),
                **({"alone": True} if self.alone else {}),
            },
            canonical_bytes({"assertion": self.assertion, "detail": self.detail, **_describe_plan(self.plan)}),
        )


@dataclass(frozen=True, slots=True)
class AssertionRefused:
    """A passkey answer to an approval did not verify; its call ends with that."""

    EVENT: ClassVar[str] = "assertion:refused"

    at: int
    approval_id: str
    call_id: str
    conversation_id: str
    approver_id: str
    reason: str

    def leaf(self) -> Leaf:
        return Leaf(
            {
                **header(self.EVENT, self.at, self.approver_id),
                "conversationId": self.conversation_id,
                "callId": self.call_id,
                "approvalId": self.approval_id,
                "reason": self.reason,
            }
        )


@dataclass(frozen=True, slots=True)
class GrantIssued:
    """An approval that covers further calls."""

    EVENT: ClassVar[str] = "grant:issued"

    at: int
    grant: Grant

    def leaf(self) -> Leaf:
        grant = self.grant
        return Leaf(
            {
                **header(self.EVENT, self.at, grant.principal_id),
                "sessionId": grant.session_id,
                "conversationId": grant.conversation_id,
                "turnId": grant.turn_id,
                "grantId": grant.id,
                "approvalId": grant.approval_id,
                "scope": grant.scope.value,
                "tool": grant.tool,
                "descriptorDigest": grant.descriptor_digest,
                "expiresAt": grant.expires_at,
                "maxUses": grant.max_uses,
            },
            canonical_bytes(
                {
                    "pins": {name: pinned.decode() for name, pinned in grant.pins.items()},
                    "freed": list(grant.freed),
                    **({} if grant.within is None else {"within": grant.within.wire()}),
                }
            ),
        )


@dataclass(frozen=True, slots=True)
class GrantRevoked:
    """By the person, or because the session, turn or conversation that it belongs to ended."""

    EVENT: ClassVar[str] = "grant:revoked"

    at: int
    grant_id: str
    principal_id: str
    reason: str

    def leaf(self) -> Leaf:
        return Leaf({**header(self.EVENT, self.at, self.principal_id), "grantId": self.grant_id, "reason": self.reason})


ApprovalEntry = (
    ApprovalRequested | ApprovalGiven | BreakGlassUsed | ApprovalResolved | AssertionRefused | GrantIssued | GrantRevoked
)


def _describe_plan(plan: PlanAnswer | None) -> dict[str, Json]:
    return {} if plan is None else {"plan": plan.described()}
