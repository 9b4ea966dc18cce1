"""Whether records are still what was signed: checked before somebody is told what they say."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import orjson
from sqlalchemy import bindparam, select

from gateway.adapters.storage import tables as t
from gateway.adapters.storage.inspection import StoredLog
from gateway.adapters.storage.log import ADVICE, check_stretch, last_position
from gateway.adapters.storage.record_texts import UnpackedOctets
from gateway.core.checkpoint import Checkpoint, open_note
from gateway.core.errors import LedgerDamaged, Misconfigured
from gateway.core.merkle import leaf_hash, prove_inclusion, root_by_proof
from gateway.core.merkle_tiles import WIDTH

_AT_ONCE: Final = 100
"""Records that are read, and proofs that are made, in one step: the work of a step grows with the square of it."""

_RECORDS: Final = (
    select(t.leaves.c.position, t.leaves.c.hash, UnpackedOctets(t.leaves.c.body), t.leaves.c.salt, t.leaves.c.payload)
    .where(t.leaves.c.position.in_(bindparam("positions", expanding=True)))
    .order_by(t.leaves.c.position)
)


def require_proven(stored: StoredLog, positions: Sequence[int]) -> None:
    """Raises LedgerDamaged, which names the record, for one at these places that is missing, that is not what was hashed, whose
    payload is another, or that the newest checkpoint is not over."""
    if not positions:
        return
    note = stored.newest_note()
    checkpoint = None if note is None else open_note(note, stored.key)
    if not isinstance(checkpoint, Checkpoint):
        raise LedgerDamaged(f"the newest checkpoint of the log proves nothing; {ADVICE}")
    hashes: dict[int, bytes] = {}
    for some in _stretches(sorted(set(positions))):
        hashes |= _check_records(stored, some)
    if (last := max(hashes)) >= checkpoint.size:
        raise LedgerDamaged(f"record {last} of the audit log is under no checkpoint; {ADVICE}")
    tree = stored.tree(checkpoint)
    # The proof of one leaf is made of the hashes of all others under its tile, so that it shows those too.
    for some in _stretches([*{position // WIDTH: position for position in hashes}.values()]):
        for position, proof in prove_inclusion(tree, some).items():
            if root_by_proof(hashes[position], position, checkpoint.size, proof) != checkpoint.root:
                first = position - position % WIDTH
                raise LedgerDamaged(
                    f"the records {first} to {min(first + WIDTH, checkpoint.size) - 1} are not those that the newest checkpoint"
                    f" signed; {ADVICE}"
                )


def require_unchanged(stored: StoredLog, start: int) -> None:
    """Raises LedgerDamaged for a record from that place on that is missing or that is not what was hashed."""
    size = (last_position(stored.connection) or 0) + 1
    try:
        for _ in check_stretch(stored.connection, start, max(size - start, 0)):
            pass
    except Misconfigured as error:
        raise LedgerDamaged(error.message) from None


def _check_records(stored: StoredLog, positions: Sequence[int]) -> Mapping[int, bytes]:
    """Their leaf hashes, made again."""
    hashes: dict[int, bytes] = {}
    for position, noted, body, salt, payload in stored.connection.execute(_RECORDS, {"positions": positions}):
        if (made := leaf_hash(body)) != noted:
            raise LedgerDamaged(f"record {position} of the audit log was changed; {ADVICE}")
        sealed = orjson.loads(body).get("payload")
        if payload is not None and hashlib.sha256((salt or b"") + payload).hexdigest() != sealed:
            raise LedgerDamaged(f"the payload of record {position} of the audit log was changed; {ADVICE}")
        hashes[position] = made
    if missing := set(positions).difference(hashes):
        raise LedgerDamaged(f"record {min(missing)} of the audit log is missing; {ADVICE}")
    return hashes


def _stretches(positions: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(positions), _AT_ONCE):
        yield positions[start : start + _AT_ONCE]
