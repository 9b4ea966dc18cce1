"""Where leaves are that somebody looks for, and the subtrees above them: written as the log is read, and read beside the log.

Who reads takes nothing here for true. What is found is read from the log itself, and hashes have to lead to a signed root. What
was not written yet is looked for in the log from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import orjson
from sqlalchemy import ColumnElement, Connection, Select, func, insert, or_, select
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage import tables as log
from gateway.adapters.storage.history import tables as t
from gateway.adapters.storage.reader import ARow
from gateway.adapters.storage.sqlite import JsonMember, hold_snapshot, open_for_checking
from gateway.core.canonical import Json
from gateway.core.ledger import (
    AuditKeyRotated,
    GatewayStarted,
    PasskeyAdded,
    PolicyFrozen,
    PolicyLoaded,
    PolicyPublished,
    PolicyThawed,
    RecordsErased,
)
from gateway.core.merkle_tiles import TiledTree, TileMaker
from gateway.core.quorum_records import PEOPLE_EVENTS

HISTORY: Final = "history.db"
"""Beside the ledger. It may be deleted while no gateway runs."""

OF_ALL: Final = (
    *(each.EVENT for each in (GatewayStarted, PolicyLoaded, PolicyPublished, PolicyFrozen, PolicyThawed)),
    *PEOPLE_EVENTS,
)
"""Events that belong to no conversation and bear on each."""

FOUND_EVENTS: Final = frozenset((*OF_ALL, PasskeyAdded.EVENT, AuditKeyRotated.EVENT))
"""Events whose places are written: they are rare, and a receipt asks for them."""

_leaf = log.leaves.c

_REMEMBERED: Final = 100_000
"""Conversations whose numbers are remembered; of others the number is looked up."""


class PlaceWriter:
    """Writes where the leaves of the next stretch are, in the transaction of whoever reads them."""

    def __init__(self, reading: Connection, writing: Connection, size: int) -> None:
        self._writing = writing
        self._tiles = TileMaker(size, partial(_read_hashes, reading, writing))
        self._numbers: dict[str, int] = {}
        self._next = (writing.execute(select(func.max(t.conversations.c.id))).scalar() or 0) + 1

    def write(self, rows: Sequence[ARow], bodies: Sequence[Mapping[str, Json]]) -> None:
        """These leaves."""
        tiles = [each._asdict() for each in self._tiles.add(row.hash for row in rows)]
        owned: list[dict[str, int]] = []
        named: list[dict[str, Json]] = []
        erased: list[dict[str, int]] = []
        for row, body in zip(rows, bodies, strict=True):
            owner = body.get("conversationId")
            if isinstance(owner, str):
                owned.append({"conversation": self._number(owner), "position": row.position})
            if body["event"] in FOUND_EVENTS:
                named.append({"event": body["event"], "position": row.position})
            if body["event"] == RecordsErased.EVENT:
                erased += [{"position": each, "erasure": row.position} for each in dict.fromkeys(body["records"])]
        tables = (t.tiles, tiles), (t.conversation_leaves, owned), (t.event_leaves, named), (t.erased_leaves, erased)
        for table, written in tables:
            if written:
                self._writing.execute(insert(table), written)

    def _number(self, conversation_id: str) -> int:
        number = self._numbers.get(conversation_id)
        if number is None:
            same = t.conversations.c.conversation_id == conversation_id
            number = self._writing.execute(select(t.conversations.c.id).where(same)).scalar()
            if number is None:
                number, self._next = self._next, self._next + 1
                self._writing.execute(insert(t.conversations).values(id=number, conversation_id=conversation_id))
            if len(self._numbers) >= _REMEMBERED:
                self._numbers.clear()
            self._numbers[conversation_id] = number
        return number


class LeafPlaces:
    """Finds leaves of a log, with what was written of it, or by reading all of it where nothing was."""

    def __init__(self, reading: Connection, places: Connection | None, written: int) -> None:
        """`written` leaves are written in `places`."""
        self._log = reading
        self._places = places
        self.written = written

    def give_up(self) -> None:
        """Take nothing that was written, and read all of the log instead."""
        self._places, self.written = None, 0

    def of_conversation(self, conversation_id: str) -> Sequence[int]:
        """Those that name a conversation, and those that bear on each."""
        return self._ask(lambda: self._of_conversation(conversation_id))

    def of_events(self, events: Collection[str]) -> Sequence[int]:
        """Those of any of these, which are rare ones."""
        return self._ask(lambda: sorted({*self._of_events(events), *self._later(JsonMember(_leaf.body, "event").in_(events))}))

    def erasures_of(self, positions: Collection[int]) -> Sequence[int]:
        """Those that say that a payload of these was erased."""
        return self._ask(lambda: self._erasures_of(positions))

    def tree(self, size: int, root: bytes) -> TiledTree:
        """The tree of the first so many leaves, whose root that is. Tiles that lead to another are passed over."""
        return self.kept_tree(size, root) or TiledTree(size, partial(_read_hashes, self._log, None))

    def kept_tree(self, size: int, root: bytes) -> TiledTree | None:
        """The same by its tiles; None where there are none, or they do not lead to that root."""
        if self._places is None:
            return None
        tree = TiledTree(size, partial(_read_hashes, self._log, self._places))
        try:
            return tree if tree.root(0, size) == root else None
        except DBAPIError:
            self.give_up()
            return None

    def _ask(self, ask: Callable[[], Sequence[int]]) -> Sequence[int]:
        try:
            return ask()
        except DBAPIError:
            if self._places is None:
                raise
            # Damaged, which the gateway mends.
            self.give_up()
            return ask()

    def _of_conversation(self, conversation_id: str) -> Sequence[int]:
        owned = JsonMember(_leaf.body, "conversationId") == conversation_id
        later = self._later(or_(owned, JsonMember(_leaf.body, "event").in_(OF_ALL)))
        mine = (
            select(t.conversation_leaves.c.position)
            .join(t.conversations, t.conversations.c.id == t.conversation_leaves.c.conversation)
            .where(t.conversations.c.conversation_id == conversation_id)
        )
        return sorted({*self._written_at(mine), *self._of_events(OF_ALL), *later})

    def _erasures_of(self, positions: Collection[int]) -> Sequence[int]:
        chosen = select(_leaf.position, _leaf.body).where(
            _leaf.position >= self.written, JsonMember(_leaf.body, "event") == RecordsErased.EVENT
        )
        named = [(row.position, orjson.loads(row.body)["records"]) for row in self._log.execute(chosen)]
        later = [place for place, records in named if not set(records).isdisjoint(positions)]
        written = select(t.erased_leaves.c.erasure).where(t.erased_leaves.c.position.in_(positions))
        return sorted({*self._written_at(written), *later})

    def _of_events(self, events: Collection[str]) -> Sequence[int]:
        return self._written_at(select(t.event_leaves.c.position).where(t.event_leaves.c.event.in_(events)))

    def _written_at(self, chosen: Select[int]) -> Sequence[int]:
        return () if self._places is None else self._places.execute(chosen).scalars().all()

    def _later(self, condition: ColumnElement[bool]) -> list[int]:
        chosen = select(_leaf.position).where(_leaf.position >= self.written, condition).order_by(_leaf.position)
        return [*self._log.execute(chosen).scalars()]


@contextmanager
def open_places(folder: Path, reading: Connection) -> Generator[LeafPlaces]:
    """What was written of the log in that folder, which `reading` sees at some moment. Where there is nothing, or it is of
    another log, of another version or damaged, all of the log is read. Writes nothing."""
    path = folder / HISTORY
    if not path.is_file() or path.stat().st_size == 0:
        yield LeafPlaces(reading, None, 0)
        return
    engine = open_for_checking(path)
    try:
        with engine.connect() as places:
            written = _written(reading, places)
            yield LeafPlaces(reading, places if written else None, written)
    finally:
        engine.dispose()


def _written(reading: Connection, places: Connection) -> int:
    try:
        hold_snapshot(places)
        row = places.execute(select(t.progress)).first()
    except DBAPIError:
        return 0
    if row is None or row.version != t.VERSION or row.size == 0:
        return 0
    last = select(log.leaves.c.hash).where(_leaf.position == row.size - 1)
    # Of this moment, for what is written may be ahead of what `reading` sees.
    with reading.engine.connect() as now:
        return row.size if now.execute(last).scalar() == row.last_hash else 0


def _read_hashes(reading: Connection, places: Connection | None, level: int, first: int, count: int) -> Sequence[bytes]:
    if level == 0:
        chosen = select(log.leaves.c.hash).where(_leaf.position >= first, _leaf.position < first + count).order_by(_leaf.position)
        return reading.execute(chosen).scalars().all()
    if places is None:
        return ()
    number = t.tiles.c.number
    chosen = select(t.tiles.c.hash).where(t.tiles.c.level == level, number >= first, number < first + count).order_by(number)
    return places.execute(chosen).scalars().all()
