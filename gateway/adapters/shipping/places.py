"""How far each sink is, in a small file of its own in the state folder."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from gateway.core.errors import LedgerUnavailable


@dataclass(frozen=True, slots=True)
class SinkPlace:
    """The next record to send, and the hash of the one before it: a log that has another one there is another log, or one that
    was put back. `fault` says why nothing is taken now, `sent_at` when something was last, in epoch milliseconds. `held` of the
    records before `next` may have reached nobody if the process ended then."""

    next: int = 0
    last_hash: str = ""
    sent_at: int | None = None
    fault: str = ""
    held: int = 0


class PlaceFile:
    """The place of one sink. A power cut may take the newest, and some records are sent twice."""

    def __init__(self, state: Path, name: str) -> None:
        self._path = state / f"sink-{name}.json"

    def read(self) -> SinkPlace:
        """The beginning where there is none, or none that can be read."""
        try:
            stored: Any = orjson.loads(self._path.read_bytes())
            return SinkPlace(
                next=max(int(stored["next"]), 0),
                last_hash=str(stored["last_hash"]),
                sent_at=None if stored["sent_at"] is None else int(stored["sent_at"]),
                fault=str(stored["fault"]),
                # Absent in the file of an earlier version.
                held=max(int(stored.get("held", 0)), 0),
            )
        except (OSError, ValueError, TypeError, KeyError):
            return SinkPlace()

    def write(self, place: SinkPlace) -> None:
        """In place of the one before. Raises LedgerUnavailable."""
        fresh = self._path.with_suffix(".new")
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, orjson.dumps(asdict(place)))
            finally:
                os.close(handle)
            fresh.replace(self._path)
        except OSError as error:
            raise LedgerUnavailable(f"the place of a sink cannot be kept: {error.strerror}") from None
