"""One call, or one conversation, read back from the log for somebody who asks what happened in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.inspection import StoredLog
from gateway.adapters.storage.log import ADVICE, last_position, read_compact_snapshot, read_descriptors
from gateway.adapters.storage.projections.audit import read_audit_row
from gateway.adapters.storage.projections.turns import restore_snapshot
from gateway.adapters.storage.proven import require_proven, require_unchanged
from gateway.core.canonical import digest
from gateway.core.errors import LedgerDamaged
from gateway.core.invariants import OfferedTool
from gateway.core.merkle_tiles import WIDTH
from gateway.core.vocabulary import Role
from gateway.runtime.ports import AuditQuery, AuditRow

_AT_ONCE: Final = 500
"""Records that are asked for in one statement."""

_ROWS: Final = (
    select(t.leaves).where(t.leaves.c.position.in_(bindparam("positions", expanding=True))).order_by(t.leaves.c.position)
)


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A call by its ids, which are unique together."""

    conversation_id: str
    call_id: str


def find_calls(connection: Connection, call_id: str, conversation_id: str | None) -> Sequence[CallPlace]:
    """The calls of that id; several conversations may have one each."""
    chosen = select(t.calls.c.conversation_id, t.calls.c.call_id).where(t.calls.c.call_id == call_id)
    if conversation_id is not None:
        chosen = chosen.where(t.calls.c.conversation_id == conversation_id)
    return [CallPlace(row.conversation_id, row.call_id) for row in connection.execute(chosen)]


def read_proven_conversation(stored: StoredLog, conversation_id: str) -> Sequence[AuditRow]:
    """All records of a conversation, and those of the gateway's starts and policies, oldest first, each under the newest
    checkpoint. Empty for an id that no record names. Raises LedgerDamaged, which names the record that is not."""
    places = stored.places.of_conversation(conversation_id)
    # Before any is left out for what it says now, which may be what was changed: also those that were found by what they say.
    require_unchanged(stored, stored.places.written)
    require_proven(stored, places)
    rows = read_rows(stored.connection, places)
    rows = [row for row in rows if row.body.get("conversationId") in (None, conversation_id)]
    return rows if any(row.body.get("conversationId") == conversation_id for row in rows) else []


def read_proven_list(stored: StoredLog, query: AuditQuery) -> Sequence[AuditRow]:
    """What matches, newest first, under the newest checkpoint as all records are that were passed over for it: one that was
    changed may be one that matched. Raises LedgerDamaged, which names the record."""
    last = last_position(stored.connection)
    if last is None and stored.newest_note() is None:
        return []
    rows = stored.rows(query)
    first = rows[-1].index if len(rows) == query.limit else 0
    require_unchanged(stored, first)
    # One record shows all that are under its tile.
    require_proven(stored, [*(row.index for row in rows), *range(first, last or 0, WIDTH), last or 0])
    return rows


def read_rows(connection: Connection, positions: Sequence[int]) -> Sequence[AuditRow]:
    """The records at these places, of those that the log has."""
    rows: list[AuditRow] = []
    for start in range(0, len(positions), _AT_ONCE):
        found = connection.execute(_ROWS, {"positions": positions[start : start + _AT_ONCE]})
        rows += [read_audit_row(row) for row in found]
    return rows


def read_offers(connection: Connection, digests: Collection[str]) -> Mapping[str, Mapping[str, OfferedTool]]:
    """What the snapshots of these digests offered, by tool name. Raises LedgerDamaged for one that its digest does not fit."""
    descriptors = read_descriptors(connection)
    names = {each: str(body.get("name")) for each, body in descriptors.items()}
    found: dict[str, Mapping[str, OfferedTool]] = {}
    for named in digests:
        row = connection.execute(select(t.snapshots).where(t.snapshots.c.digest == named)).first()
        if row is not None:
            body = read_compact_snapshot(row)[1]
            if digest(restore_snapshot(body, descriptors)) != named:
                raise LedgerDamaged(f"the snapshot `{named}` was changed; {ADVICE}")
            tools: list[tuple[str, str]] = body["tools"]
            found[named] = {names[each]: OfferedTool(each, permission) for each, permission in tools}
    return found


def read_title(connection: Connection, conversation_id: str) -> str | None:
    """What a conversation is called; None where it was deleted."""
    return connection.execute(select(t.conversations.c.title).where(t.conversations.c.id == conversation_id)).scalar()


def read_request(connection: Connection, conversation_id: str, turn_id: str) -> str | None:
    """What the person wrote in a turn, as the tab says: its message and what was added later; None where nothing is kept."""
    of_turn = (t.messages.c.conversation_id == conversation_id, t.messages.c.turn_id == turn_id)
    written = select(t.messages.c.content).where(*of_turn, t.messages.c.role == Role.USER.value)
    return "\n\n".join(connection.execute(written.order_by(t.messages.c.position)).scalars()) or None
