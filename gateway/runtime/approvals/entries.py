"""What people's answers to questions become in the ledger."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.core.approval import Approval
from gateway.core.canonical import Json
from gateway.core.ledger import ApprovalGiven, ApprovalResolved, BreakGlassUsed, PasskeyUsed
from gateway.core.plans import PlanAnswer
from gateway.core.vocabulary import ApprovalStatus
from gateway.runtime.ports import ConsoleSession


def resolve_by(
    approval: Approval,
    console: ConsoleSession,
    status: ApprovalStatus,
    at: int,
    *,
    detail: str | None = None,
    plan: PlanAnswer | None = None,
) -> ApprovalResolved:
    """Decided by a person, without a passkey that counts."""
    return ApprovalResolved(
        at=at,
        approval_id=approval.id,
        call_id=approval.call_id,
        conversation_id=approval.conversation_id,
        status=status,
        approver_id=console.principal.id,
        console_session_id=console.id,
        credential_id=None,
        assertion=None,
        detail=detail,
        plan=plan,
    )


def approve_with(
    approval: Approval,
    console: ConsoleSession,
    used: PasskeyUsed,
    assertion: Mapping[str, Json],
    *,
    alone: bool = False,
    plan: PlanAnswer | None = None,
) -> ApprovalResolved:
    """Approved with a passkey: by one person, by the last of several, or by one who acts alone."""
    return ApprovalResolved(
        at=used.at,
        approval_id=approval.id,
        call_id=approval.call_id,
        conversation_id=approval.conversation_id,
        status=ApprovalStatus.APPROVED,
        approver_id=console.principal.id,
        console_session_id=console.id,
        credential_id=used.credential_id,
        assertion=assertion,
        alone=alone,
        plan=plan,
    )


def give(
    approval: Approval,
    console: ConsoleSession,
    used: PasskeyUsed,
    assertion: Mapping[str, Json],
    *,
    plan: PlanAnswer | None = None,
) -> ApprovalGiven:
    """Approved by one of several, who is not the last."""
    return ApprovalGiven(
        at=used.at,
        approval_id=approval.id,
        call_id=approval.call_id,
        conversation_id=approval.conversation_id,
        approver_id=console.principal.id,
        console_session_id=console.id,
        credential_id=used.credential_id,
        assertion=assertion,
        plan=plan,
    )


def break_glass_entry(
    approval: Approval, console: ConsoleSession, used: PasskeyUsed, assertion: Mapping[str, Json], reason: str, signed: bytes
) -> BreakGlassUsed:
    """That an operator acts alone, and why. `signed` is what their passkey signed."""
    return BreakGlassUsed(
        at=used.at,
        approval_id=approval.id,
        call_id=approval.call_id,
        conversation_id=approval.conversation_id,
        approver_id=console.principal.id,
        console_session_id=console.id,
        credential_id=used.credential_id,
        tool=approval.tool,
        reason=reason,
        statement=signed,
        assertion=assertion,
    )
