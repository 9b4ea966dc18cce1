"""Every statement that writes, composed with SQLAlchemy and compiled once.

On the hot path SQLAlchemy's own execution costs more than SQLite does, so the writer gives the compiled SQL and plain
tuples to the driver. A `Statement` says what must hold when it runs: `refusal` is raised unless each of its rows changed
exactly one row of the table. That guard is where the ledger itself enforces *once*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count as count_from
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import (
    Dialect,
    Executable,
    Insert,
    and_,
    bindparam,
    case,
    delete,
    exists,
    insert,
    literal_column,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.sql.elements import BindParameter, ClauseElement

from gateway.adapters.storage import tables as t
from gateway.core.vocabulary import ApprovalStatus
from gateway.runtime.ports import CallState

ROWS_AT_ONCE: Final = (64, 32, *range(16, 1, -1))
"""Sizes in which rows are inserted together: one step for a usual batch, and few enough that the driver, which keeps 128
statements prepared, keeps all of these."""

LEAF: Final = "leaf"
"""The parameter that the writer fills in: the position that the entry's own leaf gets."""


@dataclass(frozen=True, eq=False, slots=True)
class Statement:
    """One kind of write. `grouped`: rows of one batch may run together, since they touch different calls. `joined`: each
    row changes the call that it names and no other row, so that many can be changed in one step."""

    construct: Executable
    refusal: str | None = None
    grouped: bool = False
    joined: bool = False
    takes_leaf: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Compiled:
    """A statement as the driver takes it. `row` turns named values into its positional parameters."""

    sql: str
    row: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    chunks: Mapping[int, str]
    """The same statement over that many rows at once, where there is one; largest first."""


def compile_statement(statement: Statement, dialect: Dialect) -> Compiled:
    """The driver's SQL for a statement."""
    construct = statement.construct
    assert isinstance(construct, ClauseElement)
    compiled: Any = construct.compile(dialect=dialect)
    names: list[str] = list(compiled.positiontup)
    constants = {name: value for name, value in compiled.params.items() if value is not None}
    pick: Callable[[Mapping[str, Any]], Any] = itemgetter(*names)

    def row(values: Mapping[str, Any]) -> tuple[Any, ...]:
        found = pick({**constants, **values}) if constants else pick(values)
        return found if len(names) > 1 else (found,)

    sql = str(compiled)
    return Compiled(sql, row, _over_many_rows(statement, sql, len(names)))


def _over_many_rows(statement: Statement, sql: str, width: int) -> dict[int, str]:
    """Between any two steps of SQLite the driver lets other threads run, and waits until they let it back: with fifty rows
    in fifty steps the writer waits for the event loop fifty times. One step for many rows is what makes large batches cheap."""
    one_row = f"({', '.join('?' * width)})"
    if isinstance(statement.construct, Insert) and sql.endswith(f" VALUES {one_row}"):
        return {count: f"{sql}{f', {one_row}' * (count - 1)}" for count in ROWS_AT_ONCE}
    if statement.joined:
        # Each parameter becomes a column of a table of rows, which SQLite names column1, column2, … (lang_select.html).
        columns = count_from(1)
        change, condition = re.sub(r"\?", lambda _: f"v.column{next(columns)}", sql).split(" WHERE ")
        return {count: f"{change} FROM (VALUES {', '.join([one_row] * count)}) AS v WHERE {condition}" for count in ROWS_AT_ONCE}
    return {}


def _is(name: str) -> BindParameter[Any]:
    """A parameter of a condition; the prefix keeps it apart from the column that an UPDATE sets."""
    return bindparam(f"of_{name}")


# ── the log ──

ADD_LEAF = Statement(insert(t.leaves))
ADD_CHECKPOINT = Statement(insert(t.checkpoints))

# ── people ──

OFFER_ENROLMENT = Statement(insert(t.enrolments))
USE_ENROLMENT = Statement(
    update(t.enrolments)
    .where(t.enrolments.c.token_hash == _is("token_hash"), t.enrolments.c.used_at.is_(None))
    .values(used_at=bindparam("used_at")),
    refusal="the enrolment link was used already",
)
ENROL = Statement(insert(t.principals))
_without_passkey = ~exists().where(t.passkeys.c.principal_id == t.principals.c.id)
ENROL_KNOWN = Statement(
    update(t.principals).where(t.principals.c.id == _is("id"), _without_passkey).values(name=bindparam("name")),
    refusal="somebody else enrolled in the meantime",
)
ADD_PASSKEY = Statement(insert(t.passkeys))

_no_counter = and_(t.passkeys.c.sign_count == 0, _is("sign_count") == 0)
_own_passkey = and_(t.passkeys.c.credential_id == _is("credential_id"), t.passkeys.c.principal_id == _is("principal_id"))
_NOT_OWN = "the passkey is not this principal's"

RENAME_PASSKEY = Statement(update(t.passkeys).where(_own_passkey).values(name=bindparam("name")), refusal=_NOT_OWN)
REMOVE_PASSKEY = Statement(delete(t.passkeys).where(_own_passkey), refusal=_NOT_OWN)
USE_PASSKEY = Statement(
    update(t.passkeys)
    # WebAuthn L3 section 7.2 step 22: a counter that does not rise is a copy of the authenticator, unless it has none.
    .where(_own_passkey, or_(t.passkeys.c.sign_count < _is("sign_count"), _no_counter))
    .values(sign_count=bindparam("sign_count"), backed_up=bindparam("backed_up"), last_used_at=bindparam("last_used_at")),
    refusal="the passkey is not this principal's, or its counter went back",
)

START_CONSOLE_SESSION = Statement(insert(t.console_sessions))
RENEW_CONSOLE_SESSION = Statement(
    update(t.console_sessions)
    .where(
        t.console_sessions.c.id == _is("id"),
        t.console_sessions.c.principal_id == _is("principal_id"),
        t.console_sessions.c.ended_at.is_(None),
    )
    .values(secret_hash=bindparam("secret_hash"), expires_at=bindparam("expires_at")),
    refusal="the session has ended",
)
# Ending what has ended changes nothing: authority only narrows, and two sign-outs may meet.
END_CONSOLE_SESSION = Statement(
    update(t.console_sessions)
    .where(t.console_sessions.c.id == _is("id"), t.console_sessions.c.ended_at.is_(None))
    .values(ended_at=bindparam("ended_at"))
)
START_AGENT_SESSION = Statement(insert(t.agent_sessions))
END_AGENT_SESSION = Statement(
    update(t.agent_sessions)
    .where(t.agent_sessions.c.id == _is("id"), t.agent_sessions.c.ended_at.is_(None))
    .values(ended_at=bindparam("ended_at"))
)

# ── conversations ──

_live = and_(t.conversations.c.id == _is("id"), t.conversations.c.deleted_at.is_(None))
_NO_CONVERSATION = "there is no such conversation"


def _highest(column: Any, name: str) -> Any:
    return case((column < _is(name), _is(name)), else_=column)


OPEN_CONVERSATION = Statement(insert(t.conversations))
RENAME_CONVERSATION = Statement(update(t.conversations).where(_live).values(title=bindparam("title")), refusal=_NO_CONVERSATION)
DELETE_CONVERSATION = Statement(
    update(t.conversations).where(_live).values(deleted_at=bindparam("deleted_at"), title="", open_turn_id=null()),
    refusal=_NO_CONVERSATION,
)
# A message's digest in the log goes with it: who has the text of a deleted message could still confirm it otherwise.
ERASE_MESSAGE_DIGESTS = Statement(
    update(t.leaves)
    .where(t.leaves.c.position.in_(select(t.messages.c.leaf).where(t.messages.c.conversation_id == _is("id"))))
    .values(salt=null(), payload=null())
)
DELETE_MESSAGES = Statement(delete(t.messages).where(t.messages.c.conversation_id == _is("id")))
TAINT_CONVERSATION = Statement(
    update(t.conversations)
    .where(_live)
    .values(taint=_highest(t.conversations.c.taint, "taint"), label=_highest(t.conversations.c.label, "label")),
    refusal=_NO_CONVERSATION,
)
ADD_MESSAGE = Statement(insert(t.messages), takes_leaf=True)
COUNT_MESSAGE = Statement(
    update(t.conversations)
    .where(_live)
    .values(
        updated_at=_highest(t.conversations.c.updated_at, "at"),
        message_count=_highest(t.conversations.c.message_count, "message_count"),
    ),
    refusal=_NO_CONVERSATION,
)
BEGIN_TURN = Statement(insert(t.turns))
OPEN_TURN = Statement(
    update(t.conversations)
    .where(_live)
    .values(
        updated_at=_highest(t.conversations.c.updated_at, "at"),
        turn_count=_highest(t.conversations.c.turn_count, "turn_count"),
        open_turn_id=bindparam("open_turn_id"),
    ),
    refusal=_NO_CONVERSATION,
)
CLOSE_TURN = Statement(
    update(t.conversations)
    .where(t.conversations.c.id == _is("id"), t.conversations.c.open_turn_id == _is("turn_id"))
    .values(open_turn_id=null())
)


def _add_once(table: Any, key: str) -> Statement:
    """Insert a row unless its key is there: what is stored under a digest never differs."""
    columns = [bindparam(column.name, type_=column.type) for column in table.c]
    absent = ~exists().where(table.c[key] == bindparam(key))
    return Statement(insert(table).from_select([column.name for column in table.c], select(*columns).where(absent)))


KEEP_DESCRIPTOR = _add_once(t.descriptors, "digest")
KEEP_SNAPSHOT = _add_once(t.snapshots, "digest")

# ── calls and what lets them run ──

_this_call = and_(
    t.calls.c.conversation_id == _is("conversation_id"),
    t.calls.c.call_id == _is("call_id"),
    t.calls.c.request_digest == _is("request_digest"),
)
_first_columns = [column for column in t.calls.c if column.name not in ("closed_at", "closing_leaf")]
_first_values = [
    bindparam(LEAF if column.name == "request_leaf" else column.name, type_=column.type) for column in _first_columns
]

OPEN_CALL = Statement(
    insert(t.calls).values({column.name: value for column, value in zip(_first_columns, _first_values, strict=True)}),
    grouped=True,
    takes_leaf=True,
)
"""A call's first entry. A second one with the same id breaks the key and is refused."""

OPEN_CALL_IF_NEW = Statement(
    insert(t.calls).from_select(
        [column.name for column in _first_columns],
        select(*_first_values).where(
            ~exists().where(t.calls.c.conversation_id == bindparam("conversation_id"), t.calls.c.call_id == bindparam("call_id"))
        ),
    ),
    grouped=True,
    takes_leaf=True,
)
"""Before the closing entry of a call that did not run: it may or may not have an earlier one."""

USE_APPROVAL = Statement(
    update(t.approvals)
    .where(
        t.approvals.c.id == _is("approval_id"),
        t.approvals.c.status == ApprovalStatus.APPROVED.value,
        t.approvals.c.used_at.is_(None),
    )
    .values(used_at=bindparam("used_at")),
    refusal="the approval cannot be used for this call",
    grouped=True,
)
RUN_APPROVED_CALL = Statement(
    update(t.calls)
    .where(
        _this_call,
        t.calls.c.state == CallState.AWAITING_APPROVAL.value,
        t.calls.c.approval_id == _is("approval_id"),
    )
    .values(state=CallState.RUNNING.value),
    refusal="the approval cannot be used for this call",
    grouped=True,
)
USE_GRANT = Statement(
    update(t.grants)
    .where(
        t.grants.c.id == _is("grant_id"),
        t.grants.c.session_id == _is("session_id"),
        t.grants.c.conversation_id == _is("conversation_id"),
        or_(t.grants.c.turn_id.is_(None), t.grants.c.turn_id == _is("turn_id")),
        t.grants.c.tool == _is("tool"),
        t.grants.c.descriptor_digest == _is("descriptor_digest"),
        t.grants.c.uses < t.grants.c.max_uses,
        t.grants.c.expires_at > _is("at"),
        t.grants.c.revoked_at.is_(None),
    )
    .values(uses=t.grants.c.uses + literal_column("1")),
    refusal="the grant does not cover this call",
    grouped=True,
)


def _close(*where: Any) -> Statement:
    return Statement(
        update(t.calls)
        .where(_this_call, *where)
        .values(state=CallState.CLOSED.value, closed_at=bindparam("closed_at"), closing_leaf=bindparam(LEAF)),
        refusal="the call cannot be closed: it is closed already, never ran, or is another call",
        grouped=True,
        joined=True,
        takes_leaf=True,
    )


CLOSE_RUN_CALL = _close(t.calls.c.state == CallState.RUNNING.value)
CLOSE_CALL = _close(t.calls.c.state != CallState.CLOSED.value)
CLOSE_UNKNOWN_CALL = Statement(
    update(t.calls)
    .where(
        t.calls.c.conversation_id == _is("conversation_id"),
        t.calls.c.call_id == _is("call_id"),
        t.calls.c.state == CallState.RUNNING.value,
    )
    .values(state=CallState.CLOSED.value, closed_at=bindparam("closed_at"), closing_leaf=bindparam(LEAF)),
    refusal="the call is not running",
    takes_leaf=True,
)

REQUEST_APPROVAL = Statement(insert(t.approvals))
APPROVE = Statement(
    update(t.approvals)
    .where(
        t.approvals.c.id == _is("id"),
        t.approvals.c.status == ApprovalStatus.PENDING.value,
        t.approvals.c.expires_at > _is("at"),
    )
    .values(status=ApprovalStatus.APPROVED.value),
    refusal="the approval is not pending, or has expired",
)
DECIDE_OTHERWISE = Statement(
    update(t.approvals)
    .where(t.approvals.c.id == _is("id"), t.approvals.c.status == ApprovalStatus.PENDING.value)
    .values(status=bindparam("status")),
    refusal="the approval is not pending",
)
ISSUE_GRANT = Statement(insert(t.grants))
REVOKE_GRANT = Statement(
    update(t.grants).where(t.grants.c.id == _is("id"), t.grants.c.revoked_at.is_(None)).values(revoked_at=bindparam("revoked_at"))
)

GROUP_ORDER: Final = (
    OPEN_CALL,
    OPEN_CALL_IF_NEW,
    USE_APPROVAL,
    RUN_APPROVED_CALL,
    USE_GRANT,
    CLOSE_RUN_CALL,
    CLOSE_CALL,
)
"""The grouped statements, in the order in which one call's own steps come."""
