"""The audit log's own tables: leaves and checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import Select, func, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.reader import ARow, Reader, stored
from gateway.adapters.storage.record_texts import UnpackedText
from gateway.adapters.storage.sqlite import RARE_EVENTS, JsonMember, RareEvent
from gateway.adapters.storage.statements import insertion, insertion_once
from gateway.core.errors import LedgerUnavailable
from gateway.core.ledger import ClockSetBack
from gateway.core.merkle import leaf_hash
from gateway.runtime.ports import AuditQuery, AuditRow

ADD_LEAF = insertion(t.leaves)
ADD_CHECKPOINT = insertion(t.checkpoints)
KEEP_FRONTIER = insertion_once(t.frontiers, "size")

NEWEST_NOTE = select(t.checkpoints.c.note).order_by(t.checkpoints.c.size.desc()).limit(1)
"""The note of the newest checkpoint."""


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
    chosen = select(t.leaves).where(
        *(JsonMember(UnpackedText(t.leaves.c.body), name) == value for name, value in wanted.items() if value is not None)
    )
    if query.event in RARE_EVENTS:
        chosen = chosen.where(RareEvent(t.leaves.c.body) == query.event)
    if query.before is not None:
        chosen = chosen.where(t.leaves.c.position < query.before)
    return chosen.order_by(t.leaves.c.position.desc()).limit(query.limit)


@stored("record", "position")
def read_audit_row(row: ARow) -> AuditRow:
    """The hash is computed, not copied: what is shown is what the tree would have to hold."""
    body = orjson.loads(row.body)
    if not isinstance(body["event"], str) or not isinstance(body["at"], int):
        raise TypeError("every record has both, and whoever reads one relies on it")
    return AuditRow(
        index=row.position,
        hash=leaf_hash(row.body.encode()).hex(),
        body=body,
        payload=None if row.payload is None else orjson.loads(row.payload),
    )


TIMES_READ = 256
"""Newest records whose times are looked at: the clock may have been set back while the gateway ran, some records ago."""


@stored("record", "position")
def _read_time(row: ARow) -> tuple[str, int]:
    body = orjson.loads(row.body)
    return body["event"], body["at"]


class LogReader(Reader):
    """The audit log."""

    async def newest_time(self) -> int | None:
        tail = select(t.leaves.c.position, t.leaves.c.body).order_by(t.leaves.c.position.desc()).limit(TIMES_READ)
        times: list[int] = []
        for event, at in await self._list(tail, _read_time):
            times.append(at)
            if event == ClockSetBack.EVENT:
                # What was recorded before it has had its effect.
                break
        return max(times, default=None)

    async def audit(self, query: AuditQuery) -> Sequence[AuditRow]:
        return await self._list(select_leaves(query), read_audit_row)

    async def audit_at(self, positions: Sequence[int]) -> Sequence[AuditRow]:
        named = select(t.leaves).where(t.leaves.c.position.in_(positions)).order_by(t.leaves.c.position)
        return await self._list(named, read_audit_row)

    async def audit_size(self) -> int:
        # Counting them would read the whole log.
        return await self._count(select(func.coalesce(func.max(t.leaves.c.position) + 1, 0)))

    async def checkpoint(self) -> str | None:
        return self._find(NEWEST_NOTE, lambda row: row.note)

    async def ready(self) -> bool:
        try:
            await self._count(select(func.count()).select_from(t.checkpoints))
        except LedgerUnavailable:
            return False
        return True
