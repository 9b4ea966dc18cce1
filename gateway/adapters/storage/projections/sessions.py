"""Console sessions and the agent sessions that they issued, as the tables keep them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, assert_never

from sqlalchemy import Integer, bindparam, literal_column, select, update

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.clients import end_grants_of
from gateway.adapters.storage.projections.people import PRINCIPAL_COLUMNS, read_principal
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.statements import Change, Statement, given, highest, insertion
from gateway.adapters.storage.stored import texts
from gateway.core.ledger.sessions import (
    AgentSessionEnded,
    AgentSessionLabelRaised,
    AgentSessionStarted,
    ConsoleSessionEnded,
    ConsoleSessionRenewed,
    ConsoleSessionStarted,
    SessionEntry,
    SessionQuestionsAllowed,
)
from gateway.core.model import Session
from gateway.core.vocabulary import Label
from gateway.runtime.ports import ConsoleSession

# ── writing ──

START_CONSOLE_SESSION = insertion(t.console_sessions)
RENEW_CONSOLE_SESSION = Statement(
    update(t.console_sessions)
    .where(
        t.console_sessions.c.id == given("id"),
        t.console_sessions.c.principal_id == given("principal_id"),
        t.console_sessions.c.ended_at.is_(None),
    )
    .values(secret_hash=bindparam("secret_hash"), expires_at=bindparam("expires_at")),
    refusal="the session has ended",
)
# Ending what has ended changes nothing: authority only narrows, and two sign-outs may meet.
END_CONSOLE_SESSION = Statement(
    update(t.console_sessions)
    .where(t.console_sessions.c.id == given("id"), t.console_sessions.c.ended_at.is_(None))
    .values(ended_at=bindparam("ended_at"))
)
START_AGENT_SESSION = insertion(t.agent_sessions)
RAISE_SESSION_LABEL = Statement(
    update(t.agent_sessions).where(t.agent_sessions.c.id == given("id")).values(label=highest(t.agent_sessions.c.label, "label"))
)
_session_of_approval = (
    t.agent_sessions.c.id == select(t.approvals.c.session_id).where(t.approvals.c.id == given("approval_id")).scalar_subquery()
)
_session_of_turn = t.agent_sessions.c.id == select(t.turns.c.session_id).where(t.turns.c.id == given("turn_id")).scalar_subquery()
_NO_DENIALS: Final = literal_column("0", Integer)
NOTE_DENIAL = Statement(
    update(t.agent_sessions).where(_session_of_approval).values(denials=t.agent_sessions.c.denials + literal_column("1"))
)
NOTE_APPROVAL = Statement(update(t.agent_sessions).where(_session_of_approval).values(denials=_NO_DENIALS))
ALLOW_QUESTIONS_OF_TURN = Statement(update(t.agent_sessions).where(_session_of_turn).values(denials=_NO_DENIALS))
ALLOW_QUESTIONS = Statement(update(t.agent_sessions).where(t.agent_sessions.c.id == given("id")).values(denials=_NO_DENIALS))
END_AGENT_SESSION = Statement(
    update(t.agent_sessions)
    .where(t.agent_sessions.c.id == given("id"), t.agent_sessions.c.ended_at.is_(None))
    .values(ended_at=bindparam("ended_at"))
)


def change_sessions(entry: SessionEntry) -> Sequence[Change]:
    """What an entry about sessions changes."""
    match entry:
        case ConsoleSessionStarted():
            values = {
                "id": entry.id,
                "secret_hash": entry.secret_hash,
                "principal_id": entry.principal_id,
                "created_at": entry.at,
                "expires_at": entry.expires_at,
                "ended_at": None,
            }
            return (Change(START_CONSOLE_SESSION, values),)
        case ConsoleSessionRenewed():
            values = {
                "of_id": entry.id,
                "of_principal_id": entry.principal_id,
                "secret_hash": entry.secret_hash,
                "expires_at": entry.expires_at,
            }
            return (Change(RENEW_CONSOLE_SESSION, values),)
        case ConsoleSessionEnded():
            return (Change(END_CONSOLE_SESSION, {"of_id": entry.id, "ended_at": entry.at}),)
        case AgentSessionStarted():
            return (Change(START_AGENT_SESSION, _agent_session_row(entry)),)
        case AgentSessionLabelRaised():
            return (Change(RAISE_SESSION_LABEL, {"of_id": entry.id, "of_label": entry.label}),)
        case SessionQuestionsAllowed():
            return (Change(ALLOW_QUESTIONS, {"of_id": entry.id}),)
        case AgentSessionEnded():
            return (Change(END_AGENT_SESSION, {"of_id": entry.id, "ended_at": entry.at}), *end_grants_of(entry.id))
        case _:
            assert_never(entry)


def _agent_session_row(entry: AgentSessionStarted) -> dict[str, Any]:
    session = entry.session
    return {
        "id": session.id,
        "secret_hash": entry.secret_hash,
        "principal_id": session.principal.id,
        "console_session_id": session.console_session_id,
        "labels": texts.write(session.labels),
        "label": int(session.label),
        "created_at": session.created_at,
        "expires_at": session.expires_at,
        "ended_at": None,
        "denials": session.denials,
    }


# ── reading ──

_console_sessions = (
    select(t.console_sessions, *PRINCIPAL_COLUMNS[1:])
    .join(t.principals, t.principals.c.id == t.console_sessions.c.principal_id)
    .where(t.console_sessions.c.ended_at.is_(None))
)
_agent_sessions = (
    select(t.agent_sessions, *PRINCIPAL_COLUMNS[1:])
    .join(t.principals, t.principals.c.id == t.agent_sessions.c.principal_id)
    .where(t.agent_sessions.c.ended_at.is_(None))
)
# A session ends with the console session that issued it, even if the process died between the two entries.
_lent_sessions = _agent_sessions.join(t.console_sessions, t.console_sessions.c.id == t.agent_sessions.c.console_session_id).where(
    t.console_sessions.c.ended_at.is_(None)
)


@stored("console session", "id")
def _read_console_session(row: ARow) -> ConsoleSession:
    return ConsoleSession(row.id, read_principal(row), row.created_at, row.expires_at)


@stored("session", "id")
def _read_session(row: ARow) -> Session:
    return Session(
        id=row.id,
        principal=read_principal(row),
        console_session_id=row.console_session_id,
        labels=texts.read(row.labels),
        label=Label(row.label),
        created_at=row.created_at,
        expires_at=row.expires_at,
        denials=row.denials,
    )


class SessionReader(Reader):
    """Sessions that have not ended."""

    async def console_session(self, secret_hash: str) -> ConsoleSession | None:
        return self._find(_console_sessions.where(t.console_sessions.c.secret_hash == secret_hash), _read_console_session)

    async def agent_session(self, secret_hash: str) -> Session | None:
        return self._find(_lent_sessions.where(t.agent_sessions.c.secret_hash == secret_hash), _read_session)

    async def console_sessions_of(self, principal_id: str) -> Sequence[ConsoleSession]:
        own = _console_sessions.where(t.console_sessions.c.principal_id == principal_id)
        return await self._list(own.order_by(t.console_sessions.c.created_at, t.console_sessions.c.id), _read_console_session)

    async def open_console_sessions(self) -> Sequence[ConsoleSession]:
        return await self._list(_console_sessions.order_by(t.console_sessions.c.id), _read_console_session)

    async def live_sessions(self, console_session_id: str) -> Sequence[Session]:
        issued = _agent_sessions.where(t.agent_sessions.c.console_session_id == console_session_id)
        return await self._list(issued.order_by(t.agent_sessions.c.created_at, t.agent_sessions.c.id), _read_session)

    async def session(self, session_id: str) -> Session | None:
        return self._find(_lent_sessions.where(t.agent_sessions.c.id == session_id), _read_session)
