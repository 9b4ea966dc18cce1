"""The audit log as it lies in the database: read for a check, read for an export, and checked before it is continued."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import orjson
from sqlalchemy import Connection, Select, select

from gateway.adapters.storage import tables as t
from gateway.core.canonical import Json
from gateway.core.checkpoint import Unverified, VerificationKey, open_note
from gateway.core.errors import Misconfigured
from gateway.core.merkle import Frontier, grow, leaf_hash
from gateway.core.verification import LeafRecord, SnapshotRecord

CHUNK: Final = 1_000
"""Rows fetched at a time, so that a long log needs little memory."""

ADVICE: Final = "`countersign audit verify` says more; restore the state directory from a backup"


def resume(connection: Connection, key: VerificationKey) -> Frontier:
    """The frontier to continue from, after hashing the whole log again: it must be what its last checkpoint signed.

    Raises Misconfigured for a log that was edited, cut or half restored: nothing may be appended to a lie.
    """
    frontier = Frontier()
    hashes = _check_hashes(connection)
    while chunk := tuple(islice(hashes, CHUNK)):
        frontier = grow(frontier, chunk)
    note = newest_note(connection)
    if note is None:
        if frontier.size:
            raise Misconfigured(f"the audit log has {frontier.size} records and no checkpoint; {ADVICE}")
        return frontier
    checkpoint = open_note(note, key)
    if isinstance(checkpoint, Unverified):
        raise Misconfigured(f"the audit log's last checkpoint proves nothing: {checkpoint.reason}; {ADVICE}")
    if checkpoint.size != frontier.size:
        raise Misconfigured(
            f"the audit log has {frontier.size} records where its last checkpoint signed {checkpoint.size}; {ADVICE}"
        )
    if checkpoint.root != frontier.root():
        raise Misconfigured(f"the audit log is not what its last checkpoint signed; {ADVICE}")
    return frontier


def is_empty(connection: Connection) -> bool:
    """Whether nothing was ever logged."""
    return connection.execute(select(t.leaves.c.position).limit(1)).first() is None


def read_leaves(connection: Connection) -> Iterator[LeafRecord]:
    """Every leaf, in order."""
    for row in _stream(connection, select(t.leaves).order_by(t.leaves.c.position)):
        yield LeafRecord(row.position, row.hash, row.body.encode(), row.salt, row.payload)


def read_notes(connection: Connection) -> Iterator[str]:
    """Every checkpoint's note, by size."""
    for row in _stream(connection, select(t.checkpoints.c.note).order_by(t.checkpoints.c.size)):
        yield row.note


def newest_note(connection: Connection) -> str | None:
    """The newest checkpoint's note."""
    return connection.execute(select(t.checkpoints.c.note).order_by(t.checkpoints.c.size.desc()).limit(1)).scalar()


def read_descriptors(connection: Connection) -> dict[str, Mapping[str, Json]]:
    """Every tool definition that was ever published, by its digest."""
    return {row.digest: orjson.loads(row.body) for row in connection.execute(select(t.descriptors))}


def read_compact_snapshots(connection: Connection) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Every snapshot under its digest, naming its tools only."""
    for row in _stream(connection, select(t.snapshots)):
        yield row.digest, orjson.loads(row.body)


def read_snapshots(connection: Connection) -> Iterator[SnapshotRecord]:
    """Every snapshot, with its tools put back."""
    descriptors = read_descriptors(connection)
    for digest, body in read_compact_snapshots(connection):
        yield SnapshotRecord(digest, restore_snapshot(body, descriptors))


def restore_snapshot(body: Mapping[str, Json], descriptors: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    """A stored snapshot's body as it was issued. A tool whose definition is gone is left empty; no digest will fit it."""
    tools = [{**descriptors.get(digest, {}), "permission": permission, "digest": digest} for digest, permission in body["tools"]]
    return {**body, "tools": tools}


def _check_hashes(connection: Connection) -> Iterator[bytes]:
    query = select(t.leaves.c.position, t.leaves.c.hash, t.leaves.c.body).order_by(t.leaves.c.position)
    for expected, (position, noted, body) in enumerate(_stream(connection, query)):
        if position != expected:
            raise Misconfigured(f"record {expected} of the audit log is missing; {ADVICE}")
        if leaf_hash(body.encode()) != noted:
            raise Misconfigured(f"record {position} of the audit log was changed; {ADVICE}")
        yield noted


def _stream(connection: Connection, query: Select[*tuple[Any, ...]]) -> Iterator[Any]:
    yield from connection.execution_options(yield_per=CHUNK).execute(query)
