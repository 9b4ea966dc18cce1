"""The log in the database, as anchors need it: what is anchored lies in one adapter, and how it is anchored in another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gateway.adapters.anchoring.places import SignedCheckpoint
from gateway.adapters.storage.inspection import open_stored_log
from gateway.core.checkpoint import Checkpoint, read_note
from gateway.core.merkle import prove_consistency


class LogForAnchors:
    """The log of one state folder."""

    def __init__(self, state: Path) -> None:
        self._state = state

    def newest(self) -> SignedCheckpoint | None:
        """The newest checkpoint."""
        with open_stored_log(self._state) as stored:
            note = stored.newest_note()
            checkpoint = None if note is None else read_note(note, stored.key)
        return SignedCheckpoint(note, checkpoint.size) if note and isinstance(checkpoint, Checkpoint) else None

    def has(self, note: str) -> bool:
        """Whether a checkpoint is one that the log made, and has still."""
        with open_stored_log(self._state) as stored:
            return stored.has_anchored(note)

    def prove(self, old: int, note: str) -> Sequence[bytes]:
        """That the log of this checkpoint goes on from the first so many records."""
        with open_stored_log(self._state) as stored:
            checkpoint = read_note(note, stored.key)
            return prove_consistency(stored.tree(checkpoint), old) if isinstance(checkpoint, Checkpoint) else ()
