"""Whether a log still has what anchors elsewhere had of it.

The mark beside the database goes with the folder: a folder that was put back whole, mark and all, is in order in itself. Only
what lies elsewhere knows that there was more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
from sqlalchemy import Connection

from gateway.adapters.storage import log
from gateway.adapters.storage.checks import checking
from gateway.adapters.storage.keys import known_keys, load_verification_key
from gateway.adapters.storage.reader import RECOVER
from gateway.adapters.storage.sqlite import DATABASE, table_names
from gateway.adapters.storage.tables import checkpoints
from gateway.core.checkpoint import Checkpoint, VerificationKey, open_note_of, read_note
from gateway.core.errors import LedgerDamaged


@dataclass(frozen=True, slots=True)
class AnchoredNote:
    """The newest checkpoint that an anchor has, by the anchor's name. What this log's keys did not sign says nothing."""

    anchor: str
    note: str


@dataclass(frozen=True, slots=True)
class Ahead:
    """A checkpoint that the log made and does not have."""

    anchor: str
    checkpoint: Checkpoint


def require_anchored(folder: Path, notes: Sequence[AnchoredNote]) -> None:
    """Raises LedgerDamaged for a log that lost what an anchor had of it, unless that loss is on record in it."""
    path = folder / DATABASE
    if not notes or not path.exists() or path.stat().st_size == 0:
        return
    key = load_verification_key(folder)
    with checking(folder) as connection:
        ahead = find_ahead(connection, known_keys(folder, key), notes)
        if ahead is None:
            return
        last = log.last_position(connection)
        size = 0 if last is None else last + 1
    there, name = ahead.checkpoint.size, ahead.anchor
    if there > size:
        raise LedgerDamaged(
            f"the log ends after {size} records, and the anchor `{name}` has a checkpoint over {there}: {there - size} are lost"
            f" (an older copy of the whole state folder); {RECOVER}"
        )
    raise LedgerDamaged(
        f"the anchor `{name}` has a checkpoint over {there} records that this log never made: it was put back and written on;"
        f" {RECOVER}"
    )


def find_ahead(connection: Connection, keys: Sequence[VerificationKey], notes: Sequence[AnchoredNote]) -> Ahead | None:
    """The largest of these checkpoints that the log made and does not have, and of which no record says that it is lost."""
    if checkpoints.name not in table_names(connection):
        return None
    signed = ((each.anchor, open_note_of(each.note, keys)) for each in notes)
    missing = [Ahead(name, each) for name, each in signed if isinstance(each, Checkpoint) and not _has(connection, keys[0], each)]
    if not missing:
        return None
    told = [(leaf.index, orjson.loads(leaf.body)) for leaf in log.read_losses(connection)]
    lost = [_Lost(index, body["until"], body["root"]) for index, body in told]
    unknown = [each for each in missing if not any(loss.covers(each.checkpoint) for loss in lost)]
    return max(unknown, key=lambda each: each.checkpoint.size, default=None)


@dataclass(frozen=True, slots=True)
class _Lost:
    """What a record of a loss says: from where and up to where there had been records, and their root; None where nobody knew."""

    index: int
    until: int | None
    root: str | None

    def covers(self, anchored: Checkpoint) -> bool:
        if (anchored.size, anchored.root.hex()) == (self.until, self.root):
            return True
        return self.index < anchored.size and (self.until is None or anchored.size <= self.until)


def _has(connection: Connection, key: VerificationKey, anchored: Checkpoint) -> bool:
    own = log.note_over(connection, anchored.size)
    return own is not None and read_note(own, key) == anchored
