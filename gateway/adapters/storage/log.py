"""The audit log as it lies in the database: read for a check, read for an export, and checked before it is continued."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any, Final

import orjson
from sqlalchemy import Connection, Select, func, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.projections.audit import NEWEST_NOTE
from gateway.adapters.storage.projections.turns import restore_snapshot
from gateway.adapters.storage.reader import ARow, stored
from gateway.adapters.storage.record_texts import UnpackedOctets
from gateway.core.canonical import Json
from gateway.core.checkpoint import Unverified, VerificationKey, open_note_of
from gateway.core.errors import Misconfigured
from gateway.core.ledger import AuditKeyRotated, RecordsLost
from gateway.core.merkle import EMPTY_ROOT, Frontier, grow, leaf_hash

if TYPE_CHECKING:
    from gateway.core.verification import LeafRecord, SnapshotRecord

CHUNK: Final = 1_000
"""Rows fetched at a time, so that a long log needs little memory."""

_HASH: Final = len(EMPTY_ROOT)

ADVICE: Final = "`countersign audit verify` says more; restore a backup with `countersign restore`"


_LEAVES = select(
    t.leaves.c.position, t.leaves.c.hash, UnpackedOctets(t.leaves.c.body), t.leaves.c.salt, t.leaves.c.payload
).order_by(t.leaves.c.position)
"""What a LeafRecord is made of; the text of a body as the bytes that are hashed."""

# By its word alone: a body that is no JSON any more has to be found by the check, which names it, and not end this query.
_ROTATIONS = _LEAVES.where(t.leaves.c.body.contains(f'"{AuditKeyRotated.EVENT}"', autoescape=True))
_LOSSES = _LEAVES.where(t.leaves.c.body.contains(f'"{RecordsLost.EVENT}"', autoescape=True))

_NOTES = select(t.checkpoints.c.note).order_by(t.checkpoints.c.size)


def grow_checked(
    connection: Connection, keys: Sequence[VerificationKey], place: int | None = None
) -> tuple[Frontier, bytes | None]:
    """The frontier to continue from, after hashing the whole log again: it must be what its last checkpoint signed, by one of
    these keys.

    With it the root of the first `place` records, None where there are fewer. Raises Misconfigured for a log that was edited, cut
    or half restored: nothing may be appended to a damaged log.
    """
    frontier = Frontier()
    root = EMPTY_ROOT if place == 0 else None
    hashes = _check_hashes(connection)
    while chunk := tuple(islice(hashes, CHUNK)):
        if place is not None and frontier.size < place <= frontier.size + len(chunk):
            root = grow(frontier, chunk[: place - frontier.size]).root()
        frontier = grow(frontier, chunk)
    _require_signed(connection, keys, frontier)
    return frontier, root


def _require_signed(connection: Connection, keys: Sequence[VerificationKey], frontier: Frontier) -> None:
    note = newest_note(connection)
    if note is None:
        if frontier.size:
            raise Misconfigured(f"the audit log has {frontier.size} records and no checkpoint; {ADVICE}")
        return
    checkpoint = open_note_of(note, keys)
    if isinstance(checkpoint, Unverified):
        raise Misconfigured(f"the audit log's last checkpoint proves nothing: {checkpoint.reason}; {ADVICE}")
    if checkpoint.size != frontier.size:
        raise Misconfigured(
            f"the audit log has {frontier.size} records where its last checkpoint signed {checkpoint.size}; {ADVICE}"
        )
    if checkpoint.root != frontier.root():
        raise Misconfigured(f"the audit log is not what its last checkpoint signed; {ADVICE}")


def kept_frontier(connection: Connection, most: int) -> Frontier | None:
    """The newest that was kept over at most so many records. It may be anything: what grows from it has to be signed."""
    kept = t.frontiers.c
    row = connection.execute(select(kept.size, kept.nodes).where(kept.size <= most).order_by(kept.size.desc()).limit(1)).first()
    if row is None or len(row.nodes) != row.size.bit_count() * _HASH:
        return None
    return Frontier(row.size, tuple(row.nodes[place : place + _HASH] for place in range(0, len(row.nodes), _HASH)))


def last_position(connection: Connection) -> int | None:
    """The place of the last record."""
    return connection.execute(select(func.max(t.leaves.c.position))).scalar()


def is_empty(connection: Connection) -> bool:
    """Whether nothing was ever logged."""
    return connection.execute(select(t.leaves.c.position).limit(1)).first() is None


def read_leaves(connection: Connection) -> Iterator[LeafRecord]:
    """Every leaf, in order."""
    # Imported by the first check of a whole log, here and below: what the checks are takes as much as all of the log's forms.
    from gateway.core.verification import LeafRecord

    return starmap(LeafRecord, _stream_tuples(connection, _LEAVES))


def read_rotations(connection: Connection) -> Iterator[LeafRecord]:
    """The leaves with which the log's key was handed over, in order."""
    from gateway.core.verification import LeafRecord

    return (leaf for leaf in starmap(LeafRecord, connection.execute(_ROTATIONS)) if _tells(leaf.body, AuditKeyRotated.EVENT))


def read_losses(connection: Connection) -> Iterator[LeafRecord]:
    """The leaves that say that records were lost, in order."""
    from gateway.core.verification import LeafRecord

    return (leaf for leaf in starmap(LeafRecord, connection.execute(_LOSSES)) if _tells(leaf.body, RecordsLost.EVENT))


def _tells(body: bytes, event: str) -> bool:
    try:
        return bool(orjson.loads(body)["event"] == event)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return False


def read_leaves_after(connection: Connection, place: int | None, most: int) -> Iterator[LeafRecord]:
    """The next leaves after that place, from the first where it is None."""
    from gateway.core.verification import LeafRecord

    query = _LEAVES if place is None else _LEAVES.where(t.leaves.c.position > place)
    return starmap(LeafRecord, _stream_tuples(connection, query.limit(most)))


def without_payload(connection: Connection, places: Iterable[int]) -> frozenset[int]:
    """Those of these leaves that have no payload, or no more."""
    leaves, left, found = t.leaves.c, iter(sorted(places)), set[int]()
    while chunk := tuple(islice(left, CHUNK)):
        query = select(leaves.position).where(leaves.position.in_(chunk), leaves.payload.is_(None))
        found.update(connection.execute(query).scalars())
    return frozenset(found)


def read_notes_after(connection: Connection, size: int | None) -> Iterator[tuple[int, str]]:
    """The checkpoints over more records than that, of all where it is None, each with the number of its records."""
    checkpoints = t.checkpoints.c
    query = select(checkpoints.size, checkpoints.note).order_by(checkpoints.size)
    for row in _stream(connection, query if size is None else query.where(checkpoints.size > size)):
        yield row.size, row.note


def count_published(connection: Connection) -> int:
    """How many definitions of tools and snapshots there are. None is ever taken away."""
    return sum(connection.execute(select(func.count()).select_from(table)).scalar_one() for table in (t.descriptors, t.snapshots))


def read_notes(connection: Connection) -> Iterator[str]:
    """Every checkpoint's note, by size."""
    for (note,) in _stream_tuples(connection, _NOTES):
        yield note


def newest_note(connection: Connection) -> str | None:
    """The newest checkpoint's note."""
    return connection.execute(NEWEST_NOTE).scalar()


def note_over(connection: Connection, size: int) -> str | None:
    """The note of the checkpoint over exactly so many records."""
    return connection.execute(select(t.checkpoints.c.note).where(t.checkpoints.c.size == size)).scalar()


def read_descriptors(connection: Connection) -> dict[str, Mapping[str, Json]]:
    """Every tool definition that was ever published, by its digest."""
    return dict(map(read_descriptor, connection.execute(select(t.descriptors))))


@stored("tool definition", "digest")
def read_descriptor(row: ARow) -> tuple[str, Mapping[str, Json]]:
    """A tool definition with its digest."""
    return row.digest, {**orjson.loads(row.body)}


def read_compact_snapshots(connection: Connection) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Every snapshot under its digest, naming its tools only."""
    yield from map(read_compact_snapshot, _stream(connection, select(t.snapshots)))


@stored("snapshot", "digest")
def read_compact_snapshot(row: ARow) -> tuple[str, Mapping[str, Json]]:
    """A snapshot with its digest, naming its tools only."""
    return row.digest, {**orjson.loads(row.body)}


def read_snapshots(connection: Connection) -> Iterator[SnapshotRecord]:
    """Every snapshot, with its tools put back."""
    from gateway.core.verification import SnapshotRecord

    descriptors = read_descriptors(connection)
    for digest, body in read_compact_snapshots(connection):
        yield SnapshotRecord(digest, restore_snapshot(body, descriptors))


def check_stretch(connection: Connection, start: int, count: int) -> Iterator[bytes]:
    """The hashes of so many leaves from a place on, each made again. Raises Misconfigured for one that is missing or changed."""
    found = start
    for noted in _check_hashes(connection, start, start + count):
        yield noted
        found += 1
    if found < start + count:
        raise Misconfigured(f"record {found} of the audit log is missing; {ADVICE}")


def _check_hashes(connection: Connection, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    query = select(t.leaves.c.position, t.leaves.c.hash, t.leaves.c.body).where(t.leaves.c.position >= start)
    if end is not None:
        query = query.where(t.leaves.c.position < end)
    for expected, (position, noted, body) in enumerate(_stream(connection, query.order_by(t.leaves.c.position)), start):
        if position != expected:
            raise Misconfigured(f"record {expected} of the audit log is missing; {ADVICE}")
        if not isinstance(body, str) or leaf_hash(body.encode()) != noted:
            raise Misconfigured(f"record {position} of the audit log was changed; {ADVICE}")
        yield noted


def _stream(connection: Connection, query: Select[*tuple[Any, ...]]) -> Iterator[Any]:
    yield from connection.execution_options(yield_per=CHUNK).execute(query)


def _stream_tuples(connection: Connection, query: Select[*tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Rows as the driver gives them: SQLAlchemy's cost as much as all that a check does with them."""
    cursor = connection.connection.cursor()
    cursor.execute(str(query.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})))
    while rows := cursor.fetchmany(CHUNK):
        yield from rows
