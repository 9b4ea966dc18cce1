"""The `Records` port: reading back.

A look-up by key takes tens of microseconds, less than handing it to a thread, so it runs where it is asked; lists and counts
go to a small pool. Both read what was last committed: a WAL reader neither waits for the writer nor holds it up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from sqlalchemy import JSON, Engine, Executable, Select, and_, func, literal_column, select, tuple_, type_coerce
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage import rows
from gateway.adapters.storage import tables as t
from gateway.core.approval import Approval, Grant
from gateway.core.errors import LedgerUnavailable
from gateway.core.ledger import Message, Passkey
from gateway.core.model import Principal, Session
from gateway.core.vocabulary import ApprovalStatus
from gateway.runtime.ports import (
    AuditQuery,
    AuditRow,
    CallRecord,
    CallState,
    ConsoleSession,
    ConversationRecord,
    EnrolmentOffer,
    OpenApproval,
    UnfinishedCall,
)

READERS: Final = 2
"""Threads for lists: enough that one long audit search does not hold up a conversation."""

Value = TypeVar("Value")

_PRINCIPAL = (t.principals.c.id.label("principal_id"), t.principals.c.name.label("principal_name"), t.principals.c.profile)

_principals = select(*_PRINCIPAL)
_console_sessions = (
    select(t.console_sessions, *_PRINCIPAL[1:])
    .join(t.principals, t.principals.c.id == t.console_sessions.c.principal_id)
    .where(t.console_sessions.c.ended_at.is_(None))
)
_agent_sessions = (
    select(t.agent_sessions, *_PRINCIPAL[1:])
    .join(t.principals, t.principals.c.id == t.agent_sessions.c.principal_id)
    .where(t.agent_sessions.c.ended_at.is_(None))
)
# A session does not outlive the console session that lent it, even if the process died between the two entries.
_lent_sessions = _agent_sessions.join(t.console_sessions, t.console_sessions.c.id == t.agent_sessions.c.console_session_id).where(
    t.console_sessions.c.ended_at.is_(None)
)
_conversations = (
    select(
        t.conversations,
        t.turns.c.position.label("open_turn_index"),
        t.turns.c.model_id.label("open_turn_model_id"),
        t.turns.c.session_id.label("open_turn_session_id"),
    )
    .outerjoin(t.turns, t.turns.c.id == t.conversations.c.open_turn_id)
    .where(t.conversations.c.deleted_at.is_(None))
)
_request, _closing = t.leaves.alias("request"), t.leaves.alias("closing")
_calls = (
    select(t.calls, _request.c.payload.label("request_payload"), _closing.c.payload.label("closing_payload"))
    .join(_request, _request.c.position == t.calls.c.request_leaf)
    .outerjoin(_closing, _closing.c.position == t.calls.c.closing_leaf)
)
_body = type_coerce(t.leaves.c.body, JSON)


class SqlRecords:
    """Everything that can be read back."""

    def __init__(self, engine: Engine) -> None:
        self._near = engine.connect()
        self._engine = engine
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="ledger-reader")
        self._closed = False

    def close(self) -> None:
        """Stop reading."""
        self._closed = True
        self._pool.shutdown()
        self._near.close()

    # ── people ──

    async def principals(self) -> Sequence[Principal]:
        return await self._list(_principals.order_by(t.principals.c.enrolled_at, t.principals.c.id), rows.principal)

    async def principal(self, principal_id: str) -> Principal | None:
        return self._find(_principals.where(t.principals.c.id == principal_id), rows.principal)

    async def principal_of_handle(self, user_handle: bytes) -> Principal | None:
        owner = _principals.join(t.passkeys, t.passkeys.c.principal_id == t.principals.c.id)
        return self._find(owner.where(t.passkeys.c.user_handle == user_handle).limit(1), rows.principal)

    async def passkeys(self, principal_id: str) -> Sequence[Passkey]:
        own = select(t.passkeys).where(t.passkeys.c.principal_id == principal_id)
        return await self._list(own.order_by(t.passkeys.c.created_at, t.passkeys.c.credential_id), rows.passkey)

    async def passkey(self, credential_id: bytes) -> Passkey | None:
        return self._find(select(t.passkeys).where(t.passkeys.c.credential_id == credential_id), rows.passkey)

    async def enrolment(self, token_hash: str) -> EnrolmentOffer | None:
        unused = select(t.enrolments).where(t.enrolments.c.token_hash == token_hash, t.enrolments.c.used_at.is_(None))
        return self._find(unused, rows.enrolment)

    async def console_session(self, secret_hash: str) -> ConsoleSession | None:
        return self._find(_console_sessions.where(t.console_sessions.c.secret_hash == secret_hash), rows.console_session)

    async def agent_session(self, secret_hash: str) -> Session | None:
        return self._find(_lent_sessions.where(t.agent_sessions.c.secret_hash == secret_hash), rows.session)

    async def live_sessions(self, console_session_id: str) -> Sequence[Session]:
        lent = _agent_sessions.where(t.agent_sessions.c.console_session_id == console_session_id)
        return await self._list(lent.order_by(t.agent_sessions.c.created_at, t.agent_sessions.c.id), rows.session)

    async def session(self, session_id: str) -> Session | None:
        return self._find(_lent_sessions.where(t.agent_sessions.c.id == session_id), rows.session)

    # ── conversations ──

    async def conversations(
        self, principal_id: str, *, before: tuple[int, str] | None, limit: int
    ) -> Sequence[ConversationRecord]:
        place = (t.conversations.c.updated_at, t.conversations.c.id)
        page = _conversations.where(t.conversations.c.principal_id == principal_id)
        if before is not None:
            page = page.where(tuple_(*place) < before)
        return await self._list(page.order_by(*(column.desc() for column in place)).limit(limit), rows.conversation)

    async def conversation(self, conversation_id: str) -> ConversationRecord | None:
        return self._find(_conversations.where(t.conversations.c.id == conversation_id), rows.conversation)

    async def conversations_with_open_turns(self) -> Sequence[str]:
        return await self._list(_conversations.where(t.conversations.c.open_turn_id.is_not(None)), lambda row: row.id)

    async def messages(self, conversation_id: str) -> Sequence[Message]:
        own = select(t.messages).where(t.messages.c.conversation_id == conversation_id)
        return await self._list(own.order_by(t.messages.c.position), rows.message)

    async def turn_indices(self, conversation_id: str) -> Mapping[str, int]:
        own = select(t.turns.c.id, t.turns.c.position).where(t.turns.c.conversation_id == conversation_id)
        return dict(await self._list(own, lambda row: (row.id, row.position)))

    # ── calls and what lets them run ──

    async def calls(self, conversation_id: str) -> Sequence[CallRecord]:
        own = _calls.where(t.calls.c.conversation_id == conversation_id)
        return await self._list(own.order_by(t.calls.c.received_at, t.calls.c.call_id), rows.call)

    async def call(self, conversation_id: str, call_id: str) -> CallRecord | None:
        key = and_(t.calls.c.conversation_id == conversation_id, t.calls.c.call_id == call_id)
        return self._find(_calls.where(key), rows.call)

    async def calls_in_session(self, session_id: str) -> int:
        return await self._count(select(func.count()).where(t.calls.c.session_id == session_id))

    async def calls_since(self, principal_id: str, since: int) -> int:
        recent = and_(t.calls.c.principal_id == principal_id, t.calls.c.received_at >= since)
        return await self._count(select(func.count()).where(recent))

    async def open_approvals(self) -> Sequence[OpenApproval]:
        # Written out, not bound: only then does SQLite see that the partial index applies.
        pending = select(t.approvals).where(t.approvals.c.status == literal_column(f"'{ApprovalStatus.PENDING}'"))
        return await self._list(
            pending.order_by(t.approvals.c.requested_at, t.approvals.c.id),
            lambda row: OpenApproval(rows.approval(row), rows.request(row.request)),
        )

    async def approvals(self, principal_id: str, *, limit: int) -> Sequence[Approval]:
        own = select(t.approvals).where(t.approvals.c.principal_id == principal_id)
        newest = own.order_by(t.approvals.c.requested_at.desc(), t.approvals.c.id.desc())
        return await self._list(newest.limit(limit), rows.approval)

    async def grants(self, session_id: str) -> Sequence[Grant]:
        live = select(t.grants).where(t.grants.c.session_id == session_id, t.grants.c.revoked_at.is_(None))
        return await self._list(live.order_by(t.grants.c.issued_at, t.grants.c.id), rows.grant)

    async def grants_of(self, principal_id: str) -> Sequence[Grant]:
        live = select(t.grants).where(t.grants.c.principal_id == principal_id, t.grants.c.revoked_at.is_(None))
        return await self._list(live.order_by(t.grants.c.issued_at, t.grants.c.id), rows.grant)

    async def grant(self, grant_id: str) -> Grant | None:
        return self._find(select(t.grants).where(t.grants.c.id == grant_id), rows.grant)

    async def unfinished_calls(self) -> Sequence[UnfinishedCall]:
        running = select(t.calls).where(t.calls.c.state == CallState.RUNNING.value)
        return await self._list(
            running.order_by(t.calls.c.request_leaf),
            lambda row: UnfinishedCall(row.principal_id, row.conversation_id, row.turn_id, row.call_id),
        )

    # ── the audit log ──

    async def audit(self, query: AuditQuery) -> Sequence[AuditRow]:
        return await self._list(select_leaves(query), rows.audit_row)

    async def audit_size(self) -> int:
        return await self._count(select(func.count()).select_from(t.leaves))

    async def checkpoint(self) -> str | None:
        newest = select(t.checkpoints.c.note).order_by(t.checkpoints.c.size.desc()).limit(1)
        return self._find(newest, lambda row: row.note)

    async def ready(self) -> bool:
        try:
            await self._count(select(func.count()).select_from(t.checkpoints))
        except LedgerUnavailable:
            return False
        return True

    # ── how ──

    def _find(self, query: Executable, read: Callable[[rows.ARow], Value]) -> Value | None:
        self._demand_open()
        try:
            row = self._near.execute(query).first()
        except DBAPIError:
            raise LedgerUnavailable("the ledger cannot be read now") from None
        return None if row is None else read(row)

    async def _list(self, query: Executable, read: Callable[[rows.ARow], Value]) -> Sequence[Value]:
        def run() -> Sequence[Value]:
            with self._engine.connect() as connection:
                return tuple(read(row) for row in connection.execute(query))

        self._demand_open()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, run)
        except DBAPIError:
            raise LedgerUnavailable("the ledger cannot be read now") from None

    async def _count(self, query: Executable) -> int:
        (count,) = await self._list(query, lambda row: int(row[0]))
        return count

    def _demand_open(self) -> None:
        if self._closed:
            raise LedgerUnavailable("the ledger is closed")


def select_leaves(query: AuditQuery) -> Select[Any]:
    """The leaves of a query, newest first. Filters read the bodies themselves: beside the hashed text there is no second
    copy that could say otherwise."""
    wanted = {
        "principalId": query.principal_id,
        "conversationId": query.conversation_id,
        "event": query.event,
        "tool": query.tool,
        "outcome": query.outcome,
    }
    chosen = select(t.leaves).where(*(_body[name].as_string() == value for name, value in wanted.items() if value is not None))
    if query.before is not None:
        chosen = chosen.where(t.leaves.c.position < query.before)
    return chosen.order_by(t.leaves.c.position.desc()).limit(query.limit)
