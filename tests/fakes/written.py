"""A log as it would lie on the disk, made without a database and without asking whether its entries can have happened."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gateway.core.audit import seal
from gateway.core.checkpoint import SigningKey
from gateway.core.ledger import Entry
from gateway.core.merkle import Frontier, grow, leaf_hash
from gateway.core.verification import Flaw, LeafRecord, LogReport, SnapshotRecord, verify

KEY = SigningKey("gateway.example/audit", bytes(32))
Submissions = Sequence[Sequence[Entry]]


@dataclass(frozen=True)
class Written:
    """A log as it would lie on the disk."""

    leaves: tuple[LeafRecord, ...]
    notes: tuple[str, ...]

    def check(
        self, anchor: str | None = None, snapshots: Iterable[SnapshotRecord] = (), *, newest_only: bool = False
    ) -> LogReport:
        key = KEY.verification_key
        return verify(self.leaves, self.notes, key, anchor=anchor, snapshots=snapshots, newest_only=newest_only)

    def with_leaf(self, index: int, leaf: LeafRecord) -> Written:
        return replace(self, leaves=(*self.leaves[:index], leaf, *self.leaves[index + 1 :]))


def write(submissions: Submissions) -> Written:
    leaves: list[LeafRecord] = []
    notes: list[str] = []
    frontier = Frontier()
    for submission in submissions:
        hashes: list[bytes] = []
        for entry in submission:
            leaf = entry.leaf()
            if leaf is None:
                continue
            salt = None if leaf.payload is None else hashlib.sha256(b"%d" % len(leaves)).digest()[:16]
            body = seal(leaf, salt or b"")
            hashes.append(leaf_hash(body))
            leaves.append(LeafRecord(len(leaves), hashes[-1], body, salt, leaf.payload))
        if not hashes:
            continue
        frontier = grow(frontier, hashes)
        notes.append(KEY.sign(frontier.size, frontier.root()))
    return Written(tuple(leaves), tuple(notes))


def fault_of(report: LogReport) -> tuple[Flaw, int | None]:
    """What is wrong and where; something must be."""
    assert report.fault is not None
    assert not report.sound
    return report.fault.flaw, report.fault.index
