"""What each anchor holds of the log, in a small file of its own in the state folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson

from gateway.core.errors import LedgerUnavailable


class AnchorDown(Exception):
    """An anchor took no checkpoint. The text says why, to the operator."""


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint of the log: its signed note, and how many records it covers."""

    note: str
    size: int


@dataclass(frozen=True, slots=True)
class AnchorPlace:
    """The newest checkpoint that an anchor has, with what it gave for it: a signature, a commit. `fault` says why it takes
    none now, `at` is when it took the last, in epoch milliseconds. Only what the anchor itself says is believed of this file."""

    size: int = 0
    note: str = ""
    proof: str = ""
    at: int | None = None
    fault: str = ""


class AnchoredLog(Protocol):
    """The log, as anchors need it. All of it blocks."""

    def newest(self) -> SignedCheckpoint | None:
        """The newest checkpoint."""
        ...

    def has(self, note: str) -> bool:
        """Whether a checkpoint is one that the log made, and has still."""
        ...

    def prove(self, old: int, note: str) -> Sequence[bytes]:
        """That the log of this checkpoint goes on from the first so many records: a consistency proof."""
        ...


class AnchorWriter(Protocol):
    """One anchor."""

    async def held(self) -> str:
        """The newest checkpoint that it has, read from itself; empty where it has none, or gives none back. Raises AnchorDown."""
        ...

    async def put(self, checkpoint: SignedCheckpoint, old: int) -> str:
        """Have the checkpoint there, and give what it says for it; the one before was over `old` records. Raises AnchorDown."""
        ...


class AnchorFile:
    """The place of one anchor."""

    def __init__(self, state: Path, name: str) -> None:
        self._path = state / f"anchor-{name}.json"

    def read(self) -> AnchorPlace:
        """Nothing anchored where there is none, or none that can be read."""
        try:
            stored: Any = orjson.loads(self._path.read_bytes())
            return AnchorPlace(
                size=max(int(stored["size"]), 0),
                note=str(stored["note"]),
                proof=str(stored["proof"]),
                at=None if stored["at"] is None else int(stored["at"]),
                fault=str(stored["fault"]),
            )
        except (OSError, ValueError, TypeError, KeyError):
            return AnchorPlace()

    def write(self, place: AnchorPlace) -> None:
        """In place of the one before. Raises LedgerUnavailable."""
        fresh = self._path.with_suffix(".new")
        try:
            fresh.touch(mode=0o600)
            fresh.write_bytes(orjson.dumps(asdict(place)))
            fresh.replace(self._path)
        except OSError as error:
            raise LedgerUnavailable(f"the place of an anchor cannot be kept: {error.strerror}") from None
