"""Checking the log of a state folder in short transactions, while the gateway goes on.

One transaction over the whole of a long log would keep the database's write-ahead log from being used again, and an erasure from
being finished. So what is checked are the records that were there at the beginning, read a stretch at a time. Records are only
ever added. What may change meanwhile are payloads that are erased, which records say that come behind; those are believed where a
signed checkpoint goes on to them from what was checked.

Whatever is found wrong is looked for once more in one transaction, so that only what is wrong at one moment counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from gateway.adapters.storage import log
from gateway.adapters.storage.inspection import StoredLog, StoredLogReader, examine
from gateway.core.canonical import Json, parse_canonical
from gateway.core.checkpoint import Checkpoint, VerificationKey, open_note, read_note
from gateway.core.errors import MalformedJson
from gateway.core.key_rotation import KeyHistory
from gateway.core.merkle import Frontier, grow, leaf_hash
from gateway.core.signed_answers import AnswerCheck
from gateway.core.verification import LeafRecord, LogReport, SnapshotRecord

STRETCH: Final = 10_000
"""Records, or checkpoints, that are read in one transaction."""


def examine_state(directory: Path, key: VerificationKey | None = None, anchor: str | None = None, **how: Any) -> LogReport:
    """Check the log of a state folder, as `examine` does. Raises what `open_stored_log` raises."""
    reader = StoredLogReader(directory)
    with reader.open() as stored:
        beginning = GrowingLog(reader, stored)
    report = examine(beginning, key, anchor, later=beginning.later, **how)
    if report.sound:
        return report
    with reader.open() as stored:
        return examine(stored, key, anchor, **how)


def verify_stored_log(directory: Path, check_answer: AnswerCheck | None = None) -> LogReport:
    """Check the log of a state folder with its own key. Raises what `open_stored_log` raises."""
    return examine_state(directory, check_answer=check_answer)


class GrowingLog:
    """The log as it was at the beginning, each stretch of it in a transaction of its own."""

    def __init__(self, reader: StoredLogReader, stored: StoredLog) -> None:
        """`stored` is the beginning."""
        self.key = stored.key
        self._reader = reader
        self._rotations = list(stored.rotations())
        self._last = log.last_position(stored.connection)
        self._last_note = stored.newest_note()

    def leaves(self) -> Iterator[LeafRecord]:
        """By index."""
        place: int | None = None
        while place != self._last:
            with self._reader.open() as stored:
                stretch = [
                    leaf for leaf in stored.leaves_after(place, STRETCH) if self._last is not None and leaf.index <= self._last
                ]
            yield from stretch
            if not stretch:
                return
            place = stretch[-1].index

    def notes(self) -> Iterator[str]:
        """By size."""
        size: int | None = None
        note: str | None = None
        while note != self._last_note:
            with self._reader.open() as stored:
                stretch = list(islice(stored.notes_after(size), STRETCH))
            if not stretch:
                return
            for size, note in stretch:  # noqa: B007 - both go on from here
                yield note
                if note == self._last_note:
                    return

    def snapshots(self) -> Iterator[SnapshotRecord]:
        """In no order, in one transaction; some may have come since."""
        with self._reader.open() as stored:
            yield from stored.snapshots()

    def rotations(self) -> Iterator[LeafRecord]:
        """By index."""
        return iter(self._rotations)

    def later(self, frontier: Frontier, keys: KeyHistory) -> Sequence[Mapping[str, Json]]:
        """The bodies of the records behind a frontier that a signed checkpoint covers together with it; none where none does."""
        with self._reader.open() as stored:
            note = stored.newest_note()
            claimed = None if note is None else read_note(note, keys.newest)
            if note is None or not isinstance(claimed, Checkpoint):
                return ()
            signed = open_note(note, keys.at(claimed.size))
            place = frontier.size - 1 if frontier.size else None
            bodies = [leaf.body for leaf in stored.leaves_after(place, max(claimed.size - frontier.size, 0))]
        if not isinstance(signed, Checkpoint) or grow(frontier, list(map(leaf_hash, bodies))).root() != signed.root:
            return ()
        try:
            return list(map(parse_canonical, bodies))
        except MalformedJson:
            return ()
