"""Reading on in the log and writing down what it tells, one transaction for each stretch of leaves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import Connection, Table, bindparam, func, insert, inspect, select, update

from gateway.adapters.storage import tables as log
from gateway.adapters.storage.history import tables as t
from gateway.adapters.storage.history.places import PlaceWriter
from gateway.adapters.storage.log import read_descriptor
from gateway.adapters.storage.reader import RECOVER, ARow
from gateway.adapters.storage.sqlite import adding_to
from gateway.core.call_history import (
    DAY_MS,
    HISTORY_EVENTS,
    AuditedCall,
    CallTeller,
    HistoryLeaf,
    ModelHour,
    ModelUse,
    Told,
    Traits,
)
from gateway.core.canonical import Json
from gateway.core.errors import LedgerUnavailable

STRETCH: Final = 2_000
"""Leaves that are read and written in one step, in some 30 ms: others need the interpreter too."""

_REMEMBERED: Final = 100_000
"""Turns whose numbers are remembered; of others the number is looked up."""

_EMPTY: Final = b""


class ReadTo(NamedTuple):
    """How many leaves were read, and the hash of the last."""

    size: int
    last_hash: bytes


def read_progress(connection: Connection) -> ReadTo | None:
    """Where the reading stands; None for tables of another version."""
    if not inspect(connection).has_table(t.progress.name):
        return None
    row = connection.execute(select(t.progress)).first()
    return None if row is None or row.version != t.VERSION else ReadTo(row.size, row.last_hash)


def begin(connection: Connection) -> None:
    """Empty tables, of this version."""
    t.metadata.drop_all(connection)
    t.metadata.create_all(connection)
    connection.execute(insert(t.progress).values(id=1, version=t.VERSION, size=0, last_hash=_EMPTY))


def fits(reading: Connection, progress: ReadTo) -> bool:
    """Whether what was read is the beginning of this log."""
    if progress.size == 0:
        return True
    found = select(log.leaves.c.hash).where(log.leaves.c.position == progress.size - 1)
    return reading.execute(found).scalar() == progress.last_hash


LEAVES = (
    select(log.leaves.c.position, log.leaves.c.hash, log.leaves.c.body, log.leaves.c.payload)
    .where(log.leaves.c.position >= bindparam("position"))
    .order_by(log.leaves.c.position)
    .limit(STRETCH)
)

_NEW_CALL = insert(t.calls)
_CHANGED_CALL = (
    update(t.calls)
    .where(t.calls.c.position == bindparam("of_position"))
    .values({each.name: bindparam(each.name) for each in t.calls.c if each.name != "position"})
)
_PLACED_TURN = update(t.turns).where(t.turns.c.id == bindparam("of_id")).values(turn_index=bindparam("turn_index"))


class HistoryWriter:
    """For one thread at a time. After a failed step a new one begins where the tables stand."""

    def __init__(self, reading: Connection, writing: Connection) -> None:
        """`reading` sees the log, `writing` the tables of the history."""
        self._reading = reading
        self._writing = writing
        progress = read_progress(writing)
        assert progress is not None, "`begin` makes the tables"
        self.progress = progress
        self._sources: dict[str, str] = {}
        self._kinds = {read_traits(row): row.id for row in writing.execute(select(t.kinds))}
        self._turns: dict[tuple[str, str], int] = {}
        self._unplaced: set[tuple[str, str]] = set()
        """Of these, those of which nobody has said yet which of their conversation they are."""
        self._next_turn = (writing.execute(select(func.max(t.turns.c.id))).scalar() or 0) + 1
        self._teller = CallTeller(self._source_of, read_open_calls(writing))
        self._places = PlaceWriter(reading, writing, progress.size)
        writing.rollback()

    def step(self) -> bool:
        """Read and write one stretch. False where there is nothing new."""
        rows = self._reading.execute(LEAVES, {"position": self.progress.size}).all()
        if not rows:
            return False
        bodies = list(map(_read_body, rows))
        told = self._teller.tell(_read_leaves(rows, bodies))
        progress = ReadTo(rows[-1].position + 1, rows[-1].hash)
        with self._writing.begin():
            self._write(told)
            self._places.write(rows, bodies)
            self._writing.execute(update(t.progress).values(size=progress.size, last_hash=progress.last_hash))
        self.progress = progress
        return True

    def _write(self, told: Told) -> None:
        self._number_turns(told.calls.values())
        new = [self._row(call) for position, call in told.calls.items() if position >= self.progress.size]
        changed = [
            {**self._row(call), "of_position": position} for position, call in told.calls.items() if position < self.progress.size
        ]
        if new:
            self._writing.execute(_NEW_CALL, new)
        if changed:
            self._writing.execute(_CHANGED_CALL, changed)
        by_hour = {(cell.hour, self._number(cell.traits)): count for cell, count in told.counts.items() if count}
        by_day: dict[tuple[int, int], int] = {}
        for (hour, kind), count in by_hour.items():
            day = hour - hour % DAY_MS, kind
            by_day[day] = by_day.get(day, 0) + count
        for table, counts in ((t.hours, by_hour), (t.days, by_day)):
            self._add(table, [{"at": at, "kind": kind, "calls": count} for (at, kind), count in counts.items() if count])
        self._add(t.model_hours, [_use_row(hour, use) for hour, use in told.use.items()])

    def _add(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self._writing.execute(adding_to(table), rows)

    def _row(self, call: AuditedCall) -> dict[str, Any]:
        return {
            "position": call.position,
            "turn": self._turns[call.conversation_id, call.turn_id],
            "kind": self._number(call.traits),
            "call_id": call.call_id,
            "at": call.at,
            "approval_id": call.approval_id,
            "asked_at": call.asked_at,
            "decided_at": call.decided_at,
            "answer": call.answer,
            "approver_id": call.approver_id,
            "credential_id": call.credential_id,
            "grant_id": call.grant_id,
            "started_at": call.started_at,
            "closed_at": call.closed_at,
            "duration_ms": call.duration_ms,
            "leaves": orjson.dumps(call.leaves).decode(),
        }

    def _number(self, traits: Traits) -> int:
        number = self._kinds.get(traits)
        if number is None:
            number = self._kinds[traits] = len(self._kinds) + 1
            self._writing.execute(insert(t.kinds).values(id=number, **traits._asdict()))
        return number

    def _number_turns(self, calls: Collection[AuditedCall]) -> None:
        """Have the numbers of all turns of these calls at hand: one question for each would take longer than all else here."""
        wanted: dict[tuple[str, str], AuditedCall] = {}
        for call in calls:
            # What was refused at once, such as a call after its turn, does not say which turn of the conversation it was.
            key = call.conversation_id, call.turn_id
            if key not in wanted or wanted[key].turn_index is None:
                wanted[key] = call
        if len(self._turns) >= _REMEMBERED:
            self._turns.clear()
            self._unplaced.clear()
        unknown = {key: call for key, call in wanted.items() if key not in self._turns}
        if unknown:
            self._add_turns(unknown)
        placed = [key for key in self._unplaced & wanted.keys() if wanted[key].turn_index is not None]
        if placed:
            rows = [{"of_id": self._turns[key], "turn_index": wanted[key].turn_index} for key in placed]
            self._writing.execute(_PLACED_TURN, rows)
            self._unplaced.difference_update(placed)

    def _add_turns(self, unknown: Mapping[tuple[str, str], AuditedCall]) -> None:
        same = t.turns.c.turn_id.in_([turn_id for _, turn_id in unknown])
        for row in self._writing.execute(select(t.turns).where(same)):
            key = row.conversation_id, row.turn_id
            self._turns[key] = row.id
            if row.turn_index is None:
                self._unplaced.add(key)
        new = [call for key, call in unknown.items() if key not in self._turns]
        rows: list[dict[str, Any]] = []
        for number, call in enumerate(new, self._next_turn):
            self._turns[call.conversation_id, call.turn_id] = number
            named = {"conversation_id": call.conversation_id, "turn_id": call.turn_id}
            rows.append({"id": number, **named, "turn_index": call.turn_index})
            if call.turn_index is None:
                self._unplaced.add((call.conversation_id, call.turn_id))
        if rows:
            self._writing.execute(insert(t.turns), rows)
            self._next_turn += len(rows)

    def _source_of(self, digest: str) -> str:
        source = self._sources.get(digest)
        if source is None:
            row = self._reading.execute(select(log.descriptors).where(log.descriptors.c.digest == digest)).first()
            source = self._sources[digest] = "" if row is None else str(read_descriptor(row)[1].get("source", ""))
        return source


def _read_body(row: ARow) -> dict[str, Json]:
    try:
        body = orjson.loads(row.body)
        str(body["event"])
        return body
    except (ValueError, TypeError, KeyError):
        raise LedgerUnavailable(f"the history of calls ends before record {row.position}, which is damaged; {RECOVER}") from None


def _read_leaves(rows: Iterable[ARow], bodies: Iterable[dict[str, Json]]) -> Iterator[HistoryLeaf]:
    for row, body in zip(rows, bodies, strict=True):
        if body["event"] in HISTORY_EVENTS:
            yield HistoryLeaf(row.position, body, _label_of(row.payload))


def _label_of(payload: bytes | None) -> int | None:
    # Most payloads are arguments and results of kilobytes, and this one word in them is all that is wanted.
    if payload is None or b'"judged":' not in payload:
        return None
    members: dict[str, Json] = orjson.loads(payload)
    # A tool's own result may hold the word too, deeper down.
    return members["judged"]["label"] if "judged" in members else None


def _use_row(hour: ModelHour, use: ModelUse) -> dict[str, Any]:
    return {"at": hour.hour, "principal_id": hour.principal_id, "model_id": hour.model_id, **asdict(use)}


def read_traits(row: ARow) -> Traits:
    """The traits in a row of `kinds`, or of a query that joins it."""
    return Traits(*(getattr(row, name) for name in Traits._fields))


WHOLE_CALLS: Final = (
    select(
        t.calls,
        *(t.kinds.c[name] for name in Traits._fields),
        t.turns.c.conversation_id,
        t.turns.c.turn_id,
        t.turns.c.turn_index,
    )
    .join_from(t.calls, t.kinds, t.kinds.c.id == t.calls.c.kind)
    .join(t.turns, t.turns.c.id == t.calls.c.turn)
)
"""Calls with all that is written of them."""

# Written out, not bound: only then does SQLite see that the partial index applies.
_OPEN_CALLS = WHOLE_CALLS.where(t.calls.c.closed_at.is_(None))


def read_open_calls(connection: Connection) -> Sequence[AuditedCall]:
    """Those whose end has not been read yet."""
    return [read_call(row) for row in connection.execute(_OPEN_CALLS)]


def read_call(row: ARow) -> AuditedCall:
    """One row of `WHOLE_CALLS`."""
    return AuditedCall(
        position=row.position,
        conversation_id=row.conversation_id,
        call_id=row.call_id,
        turn_id=row.turn_id,
        turn_index=row.turn_index,
        at=row.at,
        traits=read_traits(row),
        approval_id=row.approval_id,
        asked_at=row.asked_at,
        decided_at=row.decided_at,
        answer=row.answer,
        approver_id=row.approver_id,
        credential_id=row.credential_id,
        grant_id=row.grant_id,
        started_at=row.started_at,
        closed_at=row.closed_at,
        duration_ms=row.duration_ms,
        leaves=tuple(orjson.loads(row.leaves)),
    )
