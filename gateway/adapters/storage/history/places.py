"""Where leaves are that somebody looks for, and the subtrees above them: written as the log is read, and read beside the log.

Who reads takes nothing here for true. What is found is read from the log itself, and hashes have to lead to a signed root. What
was not written yet is looked for in the log from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson
from sqlalchemy import Connection, Engine, Executable, bindparam, func, insert, select
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage import tables as log
from gateway.adapters.storage.history import tables as t
from gateway.adapters.storage.plain import KeyedQuery, PlainQuery, Row
from gateway.adapters.storage.reader import ARow
from gateway.adapters.storage.record_texts import UnpackedText
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

OF_A_PERSON: Final = (*PEOPLE_EVENTS, PasskeyAdded.EVENT)
"""Events that say who somebody is. There are some for each person, so they are found by whom they are about."""

OF_ALL: Final = (
    *(each.EVENT for each in (GatewayStarted, PolicyLoaded, PolicyPublished, PolicyFrozen, PolicyThawed)),
    *PEOPLE_EVENTS,
)
"""Events that belong to no conversation and bear on each."""

FOUND_EVENTS: Final = frozenset((*OF_ALL, PasskeyAdded.EVENT, AuditKeyRotated.EVENT))
"""Events whose places are written: they are rare, and a receipt asks for them."""

_leaf = log.leaves.c

# Statements are made once: to make one takes longer than to run it.
_from_here: Final = _leaf.position >= bindparam("written")
_LATER: Final = PlainQuery(select(_leaf.position).where(_from_here).limit(1))
_LATER_EVENTS: Final = (
    select(_leaf.position)
    .where(_from_here, JsonMember(UnpackedText(_leaf.body), "event").in_(bindparam("events", expanding=True)))
    .order_by(_leaf.position)
)
_LATER_OWNED: Final = (
    select(_leaf.position)
    .where(_from_here, JsonMember(UnpackedText(_leaf.body), "conversationId") == bindparam("conversation"))
    .order_by(_leaf.position)
)
_LATER_ERASURES: Final = select(_leaf.position, _leaf.body).where(
    _from_here, JsonMember(UnpackedText(_leaf.body), "event") == RecordsErased.EVENT
)
_OWNED: Final = PlainQuery(
    select(t.conversation_leaves.c.position)
    .join(t.conversations, t.conversations.c.id == t.conversation_leaves.c.conversation)
    .where(t.conversations.c.conversation_id == bindparam("conversation"))
)
_EVENTS: Final = KeyedQuery(select(t.event_leaves.c.position), t.event_leaves.c.event)
_PEOPLE: Final = KeyedQuery(select(t.person_leaves.c.position), t.person_leaves.c.person)
_ERASURES: Final = KeyedQuery(select(t.erased_leaves.c.erasure), t.erased_leaves.c.position)
_PROGRESS: Final = PlainQuery(select(t.progress.c.version, t.progress.c.size, t.progress.c.last_hash))
_HASH: Final = PlainQuery(select(_leaf.hash).where(_leaf.position == bindparam("position")))
_HASHES: Final = PlainQuery(
    select(_leaf.hash).where(_leaf.position >= bindparam("first"), _leaf.position < bindparam("after")).order_by(_leaf.position)
)
_TILES: Final = PlainQuery(
    select(t.tiles.c.hash)
    .where(t.tiles.c.level == bindparam("level"), t.tiles.c.number >= bindparam("first"), t.tiles.c.number < bindparam("after"))
    .order_by(t.tiles.c.number)
)

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
        owners = [each if isinstance(each := body.get("conversationId"), str) else None for body in bodies]
        self._number(dict.fromkeys(each for each in owners if each is not None))
        owned = [
            {"conversation": self._numbers[owner], "position": row.position}
            for row, owner in zip(rows, owners, strict=True)
            if owner is not None
        ]
        named: list[dict[str, Json]] = []
        people: list[dict[str, Json]] = []
        erased: list[dict[str, int]] = []
        for row, body in zip(rows, bodies, strict=True):
            if body["event"] in FOUND_EVENTS:
                named.append({"event": body["event"], "position": row.position})
            if body["event"] in OF_A_PERSON:
                people.append({"person": _person_of(body), "position": row.position})
            if body["event"] == RecordsErased.EVENT:
                erased += [{"position": each, "erasure": row.position} for each in dict.fromkeys(body["records"])]
        found = (t.event_leaves, named), (t.person_leaves, people), (t.erased_leaves, erased)
        for table, written in ((t.tiles, tiles), (t.conversation_leaves, owned), *found):
            if written:
                self._writing.execute(insert(table), written)

    def _number(self, conversations: Collection[str]) -> None:
        """Have the numbers of these at hand."""
        if len(self._numbers) >= _REMEMBERED:
            self._numbers.clear()
        unknown = set(conversations).difference(self._numbers)
        if not unknown:
            return
        of = t.conversations.c
        for row in self._writing.execute(select(of.id, of.conversation_id).where(of.conversation_id.in_(unknown))):
            self._numbers[row.conversation_id] = row.id
        new = {each: number for number, each in enumerate(sorted(unknown.difference(self._numbers)), self._next)}
        if new:
            rows = [{"id": number, "conversation_id": each} for each, number in new.items()]
            self._writing.execute(insert(t.conversations), rows)
            self._numbers.update(new)
            self._next += len(new)


class LeafPlaces:
    """Finds leaves of a log, with what was written of it, or by reading all of it where nothing was."""

    def __init__(self, reading: Connection, places: Connection | None, written: int) -> None:
        """`written` leaves are written in `places`."""
        self._log = reading
        self._places = places
        self.written = written
        self._has_later: bool | None = None

    def give_up(self) -> None:
        """Take nothing that was written, and read all of the log instead."""
        self._places, self.written, self._has_later = None, 0, None

    def of_conversation(self, conversation_id: str) -> Sequence[int]:
        """Those that name a conversation, and those that bear on each."""
        return self._ask(lambda: self._of_conversation(conversation_id))

    def of_call(self, conversation_id: str, events: Collection[str]) -> Sequence[int]:
        """Those that name a conversation, and those of these events."""
        return self._ask(lambda: sorted({*self._owned(conversation_id), *self._of_events(events)}))

    def of_people(self, people: Collection[str]) -> Sequence[int]:
        """Those that say who these people are. There may be others among them."""
        return self._ask(lambda: self._of_people(people))

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
        return sorted({*self._owned(conversation_id), *self._of_events(OF_ALL)})

    def _owned(self, conversation_id: str) -> Sequence[int]:
        mine: Sequence[Row] = () if self._places is None else _OWNED.rows(self._places, {"conversation": conversation_id})
        return [*_firsts(mine), *self._later(_LATER_OWNED, conversation=conversation_id)]

    def _of_people(self, people: Collection[str]) -> Sequence[int]:
        later = self._later(_LATER_EVENTS, events=[*OF_A_PERSON])
        return sorted({*self._written_of(people), *later})

    def _written_of(self, people: Collection[str]) -> Sequence[int]:
        if self._places is None:
            return ()
        try:
            return _firsts(_PEOPLE.rows(self._places, sorted(people)))
        except DBAPIError:
            # A file of an earlier version, which no gateway has opened since.
            return _firsts(_EVENTS.rows(self._places, sorted(OF_A_PERSON)))

    def _erasures_of(self, positions: Collection[int]) -> Sequence[int]:
        named = [(position, orjson.loads(body)["records"]) for position, body in self._read_later(_LATER_ERASURES)]
        later = [place for place, records in named if not set(records).isdisjoint(positions)]
        written = () if self._places is None else _firsts(_ERASURES.rows(self._places, sorted(positions)))
        return sorted({*written, *later})

    def _of_events(self, events: Collection[str]) -> set[int]:
        named = sorted(events)
        written = () if self._places is None else _firsts(_EVENTS.rows(self._places, named))
        return {*written, *self._later(_LATER_EVENTS, events=named)}

    def _later(self, chosen: Executable, **given: object) -> list[int]:
        return [position for (position,) in self._read_later(chosen, **given)]

    def _read_later(self, chosen: Executable, **given: object) -> Sequence[Any]:
        """What was not written yet, which is nothing most of the time: that is asked once."""
        if self._has_later is None:
            self._has_later = bool(_LATER.rows(self._log, {"written": self.written}))
        return self._log.execute(chosen, {"written": self.written, **given}).all() if self._has_later else ()


@contextmanager
def open_places(folder: Path, reading: Connection, engine: Engine | None = None) -> Generator[LeafPlaces]:
    """What was written of the log in that folder, which `reading` sees at some moment. Where there is nothing, or it is of
    another log, of another version or damaged, all of the log is read. Writes nothing. `engine`: one that was used before,
    which is left as it is."""
    path = folder / HISTORY
    if not path.is_file() or path.stat().st_size == 0:
        yield LeafPlaces(reading, None, 0)
        return
    chosen = engine or open_for_checking(path)
    try:
        with chosen.connect() as places:
            written = _written(reading, places)
            yield LeafPlaces(reading, places if written else None, written)
    finally:
        if engine is None:
            chosen.dispose()


def _written(reading: Connection, places: Connection) -> int:
    try:
        hold_snapshot(places)
        found = _PROGRESS.rows(places, {})
    except DBAPIError:
        return 0
    if not found:
        return 0
    version, size, last_hash = found[0]
    if version != t.VERSION or size == 0:
        return 0
    last = {"position": size - 1}
    if (seen := _HASH.value(reading, last)) is None:
        # Of this moment, for what is written may be ahead of what `reading` sees.
        with reading.engine.connect() as now:
            seen = _HASH.value(now, last)
    return int(size) if seen == last_hash else 0


def index_people(reading: Connection, writing: Connection) -> None:
    """Have `person_leaves` say as much as `event_leaves`, in a transaction of `writing`. A file of an earlier version lacks it,
    and one that such a version went on with lacks some of it."""
    t.person_leaves.create(writing, checkfirst=True)
    places = t.event_leaves.c.position
    named = select(places).where(t.event_leaves.c.event.in_(OF_A_PERSON)).order_by(places)
    missing = writing.execute(named.where(places.not_in(select(t.person_leaves.c.position)))).scalars().all()
    bodies = KeyedQuery(select(_leaf.position, _leaf.body), _leaf.position).rows(reading, missing)
    rows = [{"person": _person_of(orjson.loads(body)), "position": position} for position, body in bodies]
    if rows:
        writing.execute(insert(t.person_leaves), rows)


def _person_of(body: Mapping[str, Json]) -> str:
    """Whom such a record is about; empty for one that no gateway writes."""
    person: Json = body.get("principalId")
    return person if isinstance(person, str) else ""


def _firsts(rows: Sequence[Row]) -> Sequence[int]:
    return [row[0] for row in rows]


def _read_hashes(reading: Connection, places: Connection | None, level: int, first: int, count: int) -> Sequence[bytes]:
    if level == 0:
        return [row[0] for row in _HASHES.rows(reading, {"first": first, "after": first + count})]
    if places is None:
        return ()
    return [row[0] for row in _TILES.rows(places, {"level": level, "first": first, "after": first + count})]
