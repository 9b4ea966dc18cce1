"""One call, or one conversation, read back from the log for somebody who asks what happened in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.inspection import StoredLog
from gateway.adapters.storage.log import read_compact_snapshot, read_descriptors
from gateway.adapters.storage.projections.audit import read_audit_row
from gateway.adapters.storage.proven import require_proven, require_unchanged
from gateway.core.invariants import OfferedTool
from gateway.core.vocabulary import Role
from gateway.runtime.ports import AuditRow

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


def read_conversation(stored: StoredLog, conversation_id: str) -> Sequence[AuditRow]:
    """All records of a conversation, and those of the gateway's starts and policies, oldest first. Empty for an id that no record
    names."""
    return _read_conversation(stored, conversation_id, stored.places.of_conversation(conversation_id))


def read_proven_conversation(stored: StoredLog, conversation_id: str) -> Sequence[AuditRow]:
    """The same, each of which is under the newest checkpoint. Raises LedgerDamaged, which names the record that is not."""
    places = stored.places.of_conversation(conversation_id)
    # Before any is left out for what it says now, which may be what was changed: also those that were found by what they say.
    require_unchanged(stored, stored.places.written)
    require_proven(stored, places)
    return _read_conversation(stored, conversation_id, places)


def _read_conversation(stored: StoredLog, conversation_id: str, places: Sequence[int]) -> Sequence[AuditRow]:
    rows = read_rows(stored.connection, places)
    rows = [row for row in rows if row.body.get("conversationId") in (None, conversation_id)]
    return rows if any(row.body.get("conversationId") == conversation_id for row in rows) else []


def read_rows(connection: Connection, positions: Sequence[int]) -> Sequence[AuditRow]:
    """The records at these places, of those that the log has."""
    rows: list[AuditRow] = []
    for start in range(0, len(positions), _AT_ONCE):
        found = connection.execute(_ROWS, {"positions": positions[start : start + _AT_ONCE]})
        rows += [read_audit_row(row) for row in found]
    return rows


def read_offers(connection: Connection, digests: Collection[str]) -> Mapping[str, Mapping[str, OfferedTool]]:
    """What the snapshots of these digests offered, by tool name."""
    names = {digest: str(body.get("name")) for digest, body in read_descriptors(connection).items()}
    found: dict[str, Mapping[str, OfferedTool]] = {}
    for digest in digests:
        row = connection.execute(select(t.snapshots).where(t.snapshots.c.digest == digest)).first()
        if row is not None:
            tools: list[tuple[str, str]] = read_compact_snapshot(row)[1]["tools"]
            found[digest] = {names[each]: OfferedTool(each, permission) for each, permission in tools if each in names}
    return found


def read_title(connection: Connection, conversation_id: str) -> str | None:
    """What a conversation is called; None where it was deleted."""
    return connection.execute(select(t.conversations.c.title).where(t.conversations.c.id == conversation_id)).scalar()


def read_request(connection: Connection, conversation_id: str, turn_id: str) -> str | None:
    """What the person wrote in a turn, as the tab says: its message and what was added later; None where nothing is kept."""
    of_turn = (t.messages.c.conversation_id == conversation_id, t.messages.c.turn_id == turn_id)
    written = select(t.messages.c.content).where(*of_turn, t.messages.c.role == Role.USER.value)
    return "\n\n".join(connection.execute(written.order_by(t.messages.c.position)).scalars()) or None
