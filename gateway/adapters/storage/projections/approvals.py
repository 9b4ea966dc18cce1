"""Approvals and grants, as the tables keep them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, assert_never

import orjson
from pydantic import TypeAdapter
from sqlalchemy import and_, bindparam, literal_column, or_, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.answers import (
    GIVE_ANSWER,
    NOTE_ANSWER,
    ApprovalAnswerReader,
    answer_row,
    approvals_of_others,
)
from gateway.adapters.storage.projections.calls import open_call
from gateway.adapters.storage.projections.sessions import NOTE_APPROVAL, NOTE_DENIAL
from gateway.adapters.storage.reader import ARow, stored
from gateway.adapters.storage.statements import Change, Statement, given, insertion
from gateway.adapters.storage.stored import StoredJson, also_as_list, members_also_as_lists, texts
from gateway.core.approval import Approval, Grant, RuleReason
from gateway.core.canonical import digest_of_bytes
from gateway.core.ledger.approvals import (
    ApprovalEntry,
    ApprovalGiven,
    ApprovalRequested,
    ApprovalResolved,
    AssertionRefused,
    BreakGlassUsed,
    GrantIssued,
    GrantRevoked,
)
from gateway.core.model import ModelRef, Principal, ToolRequest
from gateway.core.patterns import Pattern
from gateway.core.quorum import Needs
from gateway.core.results import restore_result
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus, GrantScope
from gateway.runtime.ports import CallState, OpenApproval

# ── writing ──

REQUEST_APPROVAL = insertion(t.approvals, leaf="leaf")
_open = (
    t.approvals.c.id == given("id"),
    t.approvals.c.status == ApprovalStatus.PENDING.value,
    t.approvals.c.expires_at > given("at"),
)
APPROVE = Statement(
    update(t.approvals)
    .where(*_open, approvals_of_others(t.approvals.c.id, "approver_id") + literal_column("1") >= t.approvals.c.approvers)
    .values(status=ApprovalStatus.APPROVED.value),
    refusal="the approval is not pending, has expired, or needs more people",
)
APPROVE_ALONE = Statement(
    update(t.approvals).where(*_open).values(status=ApprovalStatus.APPROVED.value),
    refusal="the approval is not pending, or has expired",
)
KEEP_OPEN = Statement(
    update(t.approvals).where(*_open).values(status=ApprovalStatus.PENDING.value),
    refusal="the approval is not pending, or has expired",
)
DECIDE_OTHERWISE = Statement(
    update(t.approvals)
    .where(t.approvals.c.id == given("id"), t.approvals.c.status == ApprovalStatus.PENDING.value)
    .values(status=bindparam("status")),
    refusal="the approval is not pending",
)
ISSUE_GRANT = insertion(t.grants)
REVOKE_GRANT = Statement(
    update(t.grants)
    .where(t.grants.c.id == given("id"), t.grants.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("revoked_at"))
)

_because = StoredJson(lambda: TypeAdapter(tuple[Annotated[RuleReason, also_as_list(RuleReason)], ...]))
_needs: StoredJson[Needs] = StoredJson(lambda: TypeAdapter(Annotated[Needs, also_as_list(Needs, "presence")]))
_offers = StoredJson(lambda: TypeAdapter(tuple[GrantScope, ...]))
_pattern: StoredJson[Pattern] = StoredJson(lambda: TypeAdapter(Pattern))
_patterns: StoredJson[tuple[Pattern, ...]] = StoredJson(lambda: TypeAdapter(tuple[Pattern, ...]))
_pins = StoredJson(lambda: TypeAdapter(dict[str, bytes]))
_request: StoredJson[ToolRequest] = StoredJson(
    lambda: TypeAdapter(Annotated[ToolRequest, members_also_as_lists(principal=Principal, model=ModelRef)]),
    derived=frozenset({"parsed_arguments"}),
)


def change_approvals(entry: ApprovalEntry) -> Sequence[Change]:
    """What an entry about approvals or grants changes, in order."""
    match entry:
        case ApprovalRequested(approval=approval, request=request):
            return (
                open_call(request, CallState.AWAITING_APPROVAL, approval.id),
                Change(REQUEST_APPROVAL, _approval_row(approval, request)),
            )
        case ApprovalGiven():
            return (Change(KEEP_OPEN, {"of_id": entry.approval_id, "of_at": entry.at}), Change(GIVE_ANSWER, answer_row(entry)))
        case ApprovalResolved(status=ApprovalStatus.APPROVED):
            approved = {"of_id": entry.approval_id, "of_at": entry.at}
            return (
                Change(APPROVE_ALONE, approved)
                if entry.alone
                else Change(APPROVE, {**approved, "of_approver_id": entry.approver_id}),
                Change(NOTE_APPROVAL, {"of_approval_id": entry.approval_id}),
                *(() if entry.credential_id is None else (Change(NOTE_ANSWER, answer_row(entry)),)),
            )
        case ApprovalResolved(status=ApprovalStatus.DENIED):
            return (
                Change(DECIDE_OTHERWISE, {"of_id": entry.approval_id, "status": entry.status.value}),
                Change(NOTE_DENIAL, {"of_approval_id": entry.approval_id}),
            )
        case ApprovalResolved():
            return (Change(DECIDE_OTHERWISE, {"of_id": entry.approval_id, "status": entry.status.value}),)
        case GrantIssued():
            return (Change(ISSUE_GRANT, _grant_row(entry.grant)),)
        case GrantRevoked():
            return (Change(REVOKE_GRANT, {"of_id": entry.grant_id, "revoked_at": entry.at}),)
        case AssertionRefused() | BreakGlassUsed():
            return ()
        case _:
            assert_never(entry)


def _approval_row(approval: Approval, request: ToolRequest) -> dict[str, Any]:
    return {
        "id": approval.id,
        "kind": approval.kind.value,
        "status": approval.status.value,
        "principal_id": approval.principal_id,
        "session_id": approval.session_id,
        "conversation_id": approval.conversation_id,
        "turn_id": approval.turn_id,
        "call_id": approval.call_id,
        "tool": approval.tool,
        "arguments": approval.arguments,
        "summary": approval.summary,
        "effects": texts.write(approval.effects),
        "because": _because.write(approval.because),
        "needs": _needs.write(approval.needs),
        "offers": _offers.write(approval.offers),
        "statement": approval.statement,
        "statement_digest": approval.statement_digest,
        "request": _request.write(request),
        "requested_at": approval.requested_at,
        "expires_at": approval.expires_at,
        "used_at": None,
        "patterns": _patterns.write(approval.patterns),
        "approvers": approval.needs.approvers,
    }


def _grant_row(grant: Grant) -> dict[str, Any]:
    return {
        "id": grant.id,
        "approval_id": grant.approval_id,
        "principal_id": grant.principal_id,
        "session_id": grant.session_id,
        "conversation_id": grant.conversation_id,
        "turn_id": grant.turn_id,
        "scope": grant.scope.value,
        "tool": grant.tool,
        "descriptor_digest": grant.descriptor_digest,
        "pins": _pins.write(dict(grant.pins)),
        "freed": texts.write(grant.freed),
        "issued_at": grant.issued_at,
        "expires_at": grant.expires_at,
        "max_uses": grant.max_uses,
        "uses": grant.uses,
        "revoked_at": grant.revoked_at,
        "within": None if grant.within is None else _pattern.write(grant.within),
    }


# ── reading ──


@stored("approval", "id")
def _read_approval(row: ARow) -> Approval:
    if digest_of_bytes(row.statement) != row.statement_digest:
        raise ValueError("not the statement that was recorded")
    return Approval(
        id=row.id,
        kind=ApprovalKind(row.kind),
        principal_id=row.principal_id,
        session_id=row.session_id,
        conversation_id=row.conversation_id,
        turn_id=row.turn_id,
        call_id=row.call_id,
        tool=row.tool,
        arguments=row.arguments,
        summary=row.summary,
        effects=texts.read(row.effects),
        because=_because.read(row.because),
        needs=_needs.read(row.needs),
        offers=_offers.read(row.offers),
        statement=row.statement,
        statement_digest=row.statement_digest,
        requested_at=row.requested_at,
        expires_at=row.expires_at,
        status=ApprovalStatus(row.status),
        withdrawn=_read_withdrawal(row),
        patterns=_patterns.read(row.patterns),
        requester=row.requester or "",
    )


def _read_withdrawal(row: ARow) -> str | None:
    """What its call was closed with, in the same transaction. None where a person answered, and where it was erased."""
    if row.status not in (ApprovalStatus.CANCELLED, ApprovalStatus.EXPIRED) or row.closing_payload is None:
        return None
    return restore_result(orjson.loads(row.closing_payload)["result"]).error


@stored("approval", "id")
def _read_open_approval(row: ARow) -> OpenApproval:
    return OpenApproval(_read_approval(row), _request.read(row.request))


@stored("grant", "id")
def _read_grant(row: ARow) -> Grant:
    return Grant(
        id=row.id,
        approval_id=row.approval_id,
        principal_id=row.principal_id,
        session_id=row.session_id,
        conversation_id=row.conversation_id,
        turn_id=row.turn_id,
        scope=GrantScope(row.scope),
        tool=row.tool,
        descriptor_digest=row.descriptor_digest,
        pins=_pins.read(row.pins),
        freed=texts.read(row.freed),
        issued_at=row.issued_at,
        expires_at=row.expires_at,
        max_uses=row.max_uses,
        uses=row.uses,
        revoked_at=row.revoked_at,
        within=None if row.within is None else _pattern.read(row.within),
    )


_closing_leaf = t.leaves.alias("closing")
_approvals = (
    select(t.approvals, _closing_leaf.c.payload.label("closing_payload"), t.principals.c.name.label("requester"))
    .outerjoin(t.principals, t.principals.c.id == t.approvals.c.principal_id)
    .outerjoin(
        t.calls,
        and_(t.calls.c.conversation_id == t.approvals.c.conversation_id, t.calls.c.call_id == t.approvals.c.call_id),
    )
    .outerjoin(_closing_leaf, _closing_leaf.c.position == t.calls.c.closing_leaf)
)

# A call could still come for it: its session, the sign-in that lent it and the conversation stand, and the turn is still open.
_usable_grants = (
    select(t.grants)
    .join(t.agent_sessions, t.agent_sessions.c.id == t.grants.c.session_id)
    .join(t.console_sessions, t.console_sessions.c.id == t.agent_sessions.c.console_session_id)
    .join(t.conversations, t.conversations.c.id == t.grants.c.conversation_id)
    .where(
        t.grants.c.revoked_at.is_(None),
        t.agent_sessions.c.ended_at.is_(None),
        t.console_sessions.c.ended_at.is_(None),
        t.conversations.c.deleted_at.is_(None),
        or_(t.grants.c.turn_id.is_(None), t.grants.c.turn_id == t.conversations.c.open_turn_id),
    )
)


class ApprovalReader(ApprovalAnswerReader):
    """Approvals, and grants that were not revoked."""

    async def open_approvals(self) -> Sequence[OpenApproval]:
        # Written out, not bound: only then does SQLite see that the partial index applies.
        pending = _approvals.where(t.approvals.c.status == literal_column(f"'{ApprovalStatus.PENDING}'"))
        found = await self._list(pending.order_by(t.approvals.c.leaf), _read_open_approval)
        approvals = await self._with_answers([each.approval for each in found])
        return tuple(replace(each, approval=approval) for each, approval in zip(found, approvals, strict=True))

    async def approvals(self, principal_id: str, *, limit: int) -> Sequence[Approval]:
        answered = select(t.approval_answers.c.approval_id).where(t.approval_answers.c.principal_id == principal_id)
        own = _approvals.where(or_(t.approvals.c.principal_id == principal_id, t.approvals.c.id.in_(answered)))
        found = await self._list(own.order_by(t.approvals.c.leaf.desc()).limit(limit), _read_approval)
        return await self._with_answers(found)

    async def approval(self, approval_id: str) -> Approval | None:
        found = await self._list(_approvals.where(t.approvals.c.id == approval_id), _read_approval)
        return next(iter(await self._with_answers(found)), None)

    async def _with_answers(self, approvals: Sequence[Approval]) -> Sequence[Approval]:
        shared = [approval.id for approval in approvals if approval.needs.shared]
        if not shared:
            return approvals
        answers = await self.answers(shared)
        return tuple(replace(approval, given=tuple(answers.get(approval.id, ()))) for approval in approvals)

    async def grants(self, session_id: str) -> Sequence[Grant]:
        live = select(t.grants).where(t.grants.c.session_id == session_id, t.grants.c.revoked_at.is_(None))
        return await self._list(live.order_by(t.grants.c.issued_at, t.grants.c.id), _read_grant)

    async def grants_of(self, principal_id: str) -> Sequence[Grant]:
        live = _usable_grants.where(t.grants.c.principal_id == principal_id)
        return await self._list(live.order_by(t.grants.c.issued_at, t.grants.c.id), _read_grant)

    async def live_grants(self, now: int) -> Sequence[Grant]:
        live = select(t.grants).where(t.grants.c.revoked_at.is_(None), t.grants.c.expires_at > now)
        return await self._list(live.order_by(t.grants.c.issued_at, t.grants.c.id), _read_grant)

    async def grant(self, grant_id: str) -> Grant | None:
        return self._find(select(t.grants).where(t.grants.c.id == grant_id), _read_grant)
