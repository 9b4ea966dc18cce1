"""Calls, and what lets them run, as the tables keep them.

Their statements are grouped: a batch holds the steps of many calls, and all rows of one statement run in one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, assert_never

from sqlalchemy import Select, and_, bindparam, func, literal_column, or_, select, true, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.kept import keep_attachment, keep_text
from gateway.adapters.storage.projections.quotas import ADD_TO_COUNT, OPEN_COUNT, change_counts
from gateway.adapters.storage.projections.sealed import read_payload, sealed_columns
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import LEAF, Change, Statement, given, insertion, insertion_once, join_rows
from gateway.core.ledger.calls import (
    CallClosed,
    CallEntry,
    CallFoundUnknown,
    CallIntended,
    CallRefusedUnrecorded,
    LateResultDiscarded,
)
from gateway.core.model import ToolRequest
from gateway.core.results import restore_result
from gateway.core.vocabulary import ApprovalStatus
from gateway.runtime.ports import CallRecord, CallState, UnfinishedCall

# ── writing ──

_this_call = and_(
    t.calls.c.conversation_id == given("conversation_id"),
    t.calls.c.call_id == given("call_id"),
    t.calls.c.request_digest == given("request_digest"),
)
_NOT_CLOSED_YET = ("closed_at", "closing_leaf")

OPEN_CALL = insertion(t.calls, leaf="request_leaf", without=_NOT_CLOSED_YET, grouped=True)
"""A call's first entry. A second one with the same id breaks the key and is refused."""

OPEN_CALL_IF_NEW = insertion_once(
    t.calls, "conversation_id", "call_id", leaf="request_leaf", without=_NOT_CLOSED_YET, grouped=True
)
"""Before the closing entry of a call that did not run: it may or may not have an earlier one."""

_CANNOT_USE = "the approval cannot be used for this call"

USE_APPROVAL = Statement(
    update(t.approvals)
    .where(
        t.approvals.c.id == given("approval_id"),
        t.approvals.c.status == ApprovalStatus.APPROVED.value,
        t.approvals.c.used_at.is_(None),
    )
    .values(used_at=bindparam("used_at")),
    refusal=_CANNOT_USE,
    grouped=True,
)
RUN_APPROVED_CALL = Statement(
    update(t.calls)
    .where(
        _this_call,
        t.calls.c.state == CallState.AWAITING_APPROVAL.value,
        t.calls.c.approval_id == given("approval_id"),
    )
    .values(state=CallState.RUNNING.value, intended=true(), erase_at=bindparam("erase_at")),
    refusal=_CANNOT_USE,
    grouped=True,
)
USE_GRANT = Statement(
    update(t.grants)
    .where(
        t.grants.c.id == given("grant_id"),
        t.grants.c.session_id == given("session_id"),
        t.grants.c.conversation_id == given("conversation_id"),
        or_(t.grants.c.turn_id.is_(None), t.grants.c.turn_id == given("turn_id")),
        t.grants.c.tool == given("tool"),
        t.grants.c.descriptor_digest == given("descriptor_digest"),
        t.grants.c.uses < t.grants.c.max_uses,
        t.grants.c.expires_at > given("at"),
        t.grants.c.revoked_at.is_(None),
    )
    .values(uses=t.grants.c.uses + literal_column("1")),
    refusal="the grant does not cover this call",
    grouped=True,
)


def _closing(*where: Any) -> Statement:
    return Statement(
        update(t.calls)
        .where(_this_call, *where)
        .values(
            state=CallState.CLOSED.value,
            closed_at=bindparam("closed_at"),
            closing_leaf=bindparam(LEAF),
            erase_at=bindparam("erase_at"),
        ),
        refusal="the call cannot be closed: it is closed already, never ran, or is another call",
        grouped=True,
        takes_leaf=True,
        many=join_rows,
    )


CLOSE_RUN_CALL = _closing(t.calls.c.state == CallState.RUNNING.value)
CLOSE_CALL = _closing(t.calls.c.state != CallState.CLOSED.value)
CLOSE_UNKNOWN_CALL = Statement(
    update(t.calls)
    .where(
        t.calls.c.conversation_id == given("conversation_id"),
        t.calls.c.call_id == given("call_id"),
        t.calls.c.state == CallState.RUNNING.value,
    )
    .values(state=CallState.CLOSED.value, closed_at=bindparam("closed_at"), closing_leaf=bindparam(LEAF)),
    refusal="the call is not running",
    takes_leaf=True,
)

UNFINISHED_CALLS = (
    # Only the first condition has an index; a running call is never closed.
    select(t.calls)
    .where(t.calls.c.closed_at.is_(None), t.calls.c.state == CallState.RUNNING.value)
    .order_by(t.calls.c.request_leaf)
)

GROUP_ORDER: Final = (
    OPEN_CALL,
    OPEN_CALL_IF_NEW,
    OPEN_COUNT,
    ADD_TO_COUNT,
    USE_APPROVAL,
    RUN_APPROVED_CALL,
    USE_GRANT,
    CLOSE_RUN_CALL,
    CLOSE_CALL,
)
"""The grouped statements, in the order in which one call's own steps come."""


def change_calls(entry: CallEntry) -> Sequence[Change]:
    """What an entry about a call changes, in order."""
    match entry:
        case CallIntended():
            return _intend(entry)
        case CallClosed():
            return _close(entry)
        case CallFoundUnknown():
            values = {"of_conversation_id": entry.conversation_id, "of_call_id": entry.call_id, "closed_at": entry.at}
            return (Change(CLOSE_UNKNOWN_CALL, values),)
        case CallRefusedUnrecorded() | LateResultDiscarded():
            return ()
        case _:
            assert_never(entry)


def open_call(
    request: ToolRequest,
    state: CallState,
    approval_id: str | None = None,
    statement: Statement = OPEN_CALL,
    erase_at: int | None = None,
) -> Change:
    """The first row of a call."""
    values = {
        "conversation_id": request.conversation_id,
        "call_id": request.call_id,
        "turn_id": request.turn_id,
        "principal_id": request.principal.id,
        "session_id": request.session_id,
        "tool": request.tool,
        "request_digest": request.digest,
        "state": state.value,
        "intended": state is CallState.RUNNING,
        "approval_id": approval_id,
        "received_at": request.received_at,
        "erase_at": erase_at,
    }
    return Change(statement, values, _key(request))


def _intend(entry: CallIntended) -> Sequence[Change]:
    request = entry.request
    counted = change_counts(entry.reserved, _key(request)) if entry.reserved else ()
    if entry.approval_id is None:
        opened = open_call(request, CallState.RUNNING, erase_at=entry.erase_at)
        return (opened, *counted) if entry.grant_id is None else (opened, _use_grant(entry, entry.grant_id), *counted)
    run = {**_of_call(request), "of_approval_id": entry.approval_id, "erase_at": entry.erase_at}
    approved = (
        Change(USE_APPROVAL, {"of_approval_id": entry.approval_id, "used_at": entry.at}, _key(request)),
        Change(RUN_APPROVED_CALL, run, _key(request)),
        *counted,
    )
    return approved if entry.grant_id is None else (*approved, _use_grant(entry, entry.grant_id))


def _use_grant(entry: CallIntended, grant_id: str) -> Change:
    request = entry.request
    values = {
        "of_grant_id": grant_id,
        "of_session_id": request.session_id,
        "of_conversation_id": request.conversation_id,
        "of_turn_id": request.turn_id,
        "of_tool": request.tool,
        "of_descriptor_digest": entry.descriptor_digest,
        "of_at": entry.at,
    }
    return Change(USE_GRANT, values, _key(request))


def _close(entry: CallClosed) -> Sequence[Change]:
    request = entry.request
    values = {**_of_call(request), "closed_at": entry.at, "erase_at": entry.erase_at}
    settled = change_counts(entry.settled, _key(request)) if entry.settled else ()
    if entry.executed:
        closed = Change(CLOSE_RUN_CALL, values, _key(request))
        kept = () if entry.kept is None else (keep_text(request, entry.kept),)
        return (closed, *settled, *kept, *(keep_attachment(request, attachment) for attachment in entry.attachments))
    # A refusal may be the first entry of a call.
    opened = open_call(request, CallState.AWAITING_APPROVAL, statement=OPEN_CALL_IF_NEW)
    return (opened, Change(CLOSE_CALL, values, _key(request)), *settled)


def _key(request: ToolRequest) -> tuple[str, str]:
    return (request.conversation_id, request.call_id)


def _of_call(request: ToolRequest) -> dict[str, Any]:
    return {
        "of_conversation_id": request.conversation_id,
        "of_call_id": request.call_id,
        "of_request_digest": request.digest,
    }


# ── reading ──


_request_leaf, _closing_leaf = t.leaves.alias("request"), t.leaves.alias("closing")
_calls = (
    select(
        t.calls,
        *(column.label(f"request_{column.name}") for column in sealed_columns(_request_leaf)),
        *(column.label(f"closing_{column.name}") for column in sealed_columns(_closing_leaf)),
    )
    .join(_request_leaf, _request_leaf.c.position == t.calls.c.request_leaf)
    .outerjoin(_closing_leaf, _closing_leaf.c.position == t.calls.c.closing_leaf)
)

_CALL_DIGEST = select(t.calls.c.request_digest).where(
    t.calls.c.conversation_id == given("conversation_id"), t.calls.c.call_id == given("call_id")
)


@stored("call", "conversation_id", "call_id")
def _read_unfinished_call(row: ARow) -> UnfinishedCall:
    return UnfinishedCall(row.principal_id, row.conversation_id, row.turn_id, row.call_id, row.tool)


@stored("call", "conversation_id", "call_id")
def _read_call(row: ARow) -> CallRecord:
    """A call with its payloads. One that was erased reads as no arguments and no result."""
    request = read_payload(row.request_body, row.request_salt, row.request_payload)
    closing = read_payload(row.closing_body, row.closing_salt, row.closing_payload)
    return CallRecord(
        conversation_id=row.conversation_id,
        turn_id=row.turn_id,
        call_id=row.call_id,
        tool=row.tool,
        arguments={} if request is None else request["arguments"],
        request_digest=row.request_digest,
        state=CallState(row.state),
        approval_id=row.approval_id,
        received_at=row.received_at,
        result=None if closing is None else restore_result(closing["result"]),
        closing_index=row.closing_leaf,
        closed_at=row.closed_at,
    )


def count_calls_since(principal_id: str, since: int) -> Select[int]:
    """A person's calls, by their sessions. Nobody calls in one that has run out, so that only those of some are read."""
    session = t.agent_sessions.c
    of_sessions = select(func.count()).join_from(t.agent_sessions, t.calls, t.calls.c.session_id == session.id)
    own = and_(session.principal_id == principal_id, session.expires_at >= since)
    return of_sessions.where(own, t.calls.c.received_at >= since)


class CallReader(Reader):
    """Calls with their arguments and results."""

    async def calls(self, conversation_id: str) -> Sequence[CallRecord]:
        own = _calls.where(t.calls.c.conversation_id == conversation_id)
        return await self._list(own.order_by(t.calls.c.request_leaf), _read_call)

    async def call(self, conversation_id: str, call_id: str) -> CallRecord | None:
        key = and_(t.calls.c.conversation_id == conversation_id, t.calls.c.call_id == call_id)
        return self._find(_calls.where(key), _read_call)

    async def call_digest(self, conversation_id: str, call_id: str) -> str | None:
        key = {"of_conversation_id": conversation_id, "of_call_id": call_id}
        return self._find(_CALL_DIGEST, lambda row: row.request_digest, **key)

    async def calls_in_session(self, session_id: str) -> int:
        return await self._count(select(func.count()).where(t.calls.c.session_id == session_id))

    async def tools_in_session(self, session_id: str) -> frozenset[str]:
        used = select(t.calls.c.tool).distinct().where(t.calls.c.session_id == session_id, t.calls.c.intended)
        return frozenset(await self._list(used, lambda row: row.tool))

    async def calls_since(self, principal_id: str, since: int) -> int:
        return await self._count(count_calls_since(principal_id, since))

    async def unfinished_calls(self) -> Sequence[UnfinishedCall]:
        return await self._list(UNFINISHED_CALLS, _read_unfinished_call)
