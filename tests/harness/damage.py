"""What disks do to a state folder, for tests that say what is noticed of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path


def written_part(log: Path) -> bytes:
    """A write-ahead log as far as it was written: behind that it has its place on the disk already, which holds zeros."""
    return log.read_bytes().rstrip(b"\0")


def tear(log: Path, left: int) -> None:
    """Cut a write-ahead log, so that no more than that many bytes of it are left."""
    log.write_bytes(log.read_bytes()[:left])


def flip(path: Path, share: float) -> None:
    """One bit of a file, at that share of what was written to it."""
    raw = bytearray(path.read_bytes())
    raw[int(len(written_part(path)) * share)] ^= 1
    path.write_bytes(raw)


PACKED = ("approval:requested", "approval:resolved", "call:intended", "call:closed")
"""Records of these kinds may be packed, and none of any other: SQLite cannot read which they are, so all of them go together."""


CONTRADICTED = "RAISE(ABORT, 'another step came first')"
"""How a record fails to be written that contradicts what is recorded, as when two do what only one of them can."""


@contextmanager
def unwritable(state: Path, event: str, failure: str = "json('{')") -> Generator[None]:
    """A record of this event cannot be written meanwhile, and neither can what would be written with it."""
    packed = "OR typeof(NEW.body) = 'blob' " if event in PACKED else ""
    with closing(sqlite3.connect(state / "ledger.db", isolation_level=None)) as database:
        database.execute(
            f"CREATE TRIGGER unwritable BEFORE INSERT ON leaves WHEN instr(NEW.body, '\"{event}\"') {packed}"
            f"BEGIN SELECT {failure}; END"
        )
        try:
            yield
        finally:
            database.execute("DROP TRIGGER unwritable")
