"""SQLite as the ledger needs it: one writer that begins with the lock, readers that cannot write, every commit on the disk.

Debian's and most other SQLite libraries before 3.51.3 can corrupt a WAL database when two connections write and checkpoint at
the same time (the WAL-reset bug), so the library is checked, not assumed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event

from gateway.core.errors import LedgerLocked, LedgerUnavailable, Misconfigured

DATABASE: Final = "ledger.db"
LOCK: Final = "ledger.db.lock"

OLDEST_SAFE_SQLITE: Final = (3, 51, 3)
"""The first release without the WAL-reset bug (2026-03-13)."""

BUSY_MILLISECONDS: Final = 5_000
"""How long a statement waits for another process, such as a backup, before it fails."""

PAGES_IN_LOG: Final = 4_000
"""When the write-ahead log is copied into the database: at 16 MB. Under load the same pages are written again and again, so
SQLite's own 1,000 would copy most of them four times (measured: a fifth of the ledger's rate)."""


def choose_driver() -> ModuleType:
    """The sqlite3 module to use: the wheel that brings its own SQLite, or Python's where that is new enough.

    Raises Misconfigured when neither is.
    """
    try:
        module = import_module("pysqlite3.dbapi2")
    except ImportError:
        # No wheel for this platform (macOS): Homebrew's and python.org's Pythons carry a current SQLite.
        module = import_module("sqlite3.dbapi2")
    version: tuple[int, ...] = module.sqlite_version_info
    if version < OLDEST_SAFE_SQLITE:
        raise Misconfigured(
            f"SQLite {module.sqlite_version} can corrupt the ledger; install `pysqlite3` 0.6.1 or a Python built with"
            f" SQLite {'.'.join(map(str, OLDEST_SAFE_SQLITE))} or newer"
        )
    return module


def open_for_writing(path: Path) -> Engine:
    """The one engine that may write. Every transaction takes the write lock as it begins.

    A deferred BEGIN that reads and then writes fails with SQLITE_BUSY at once, whatever the timeout: measured, 1,400 of 1,600
    transactions did.
    """
    engine = create_engine(f"sqlite+pysqlite:///{path}", module=choose_driver())

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        _set_pragmas(
            connection,
            "journal_mode = WAL",
            # FULL, not NORMAL: an intent must survive a power cut before its tool runs.
            "synchronous = FULL",
            "foreign_keys = ON",
            f"wal_autocheckpoint = {PAGES_IN_LOG}",
            # What a person deletes is overwritten, not only unlinked.
            "secure_delete = FAST",
        )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        # Straight to the driver: SQLAlchemy's execution would cost every commit another 20 µs.
        connection.connection.cursor().execute("BEGIN IMMEDIATE")

    return engine


def open_for_reading(path: Path) -> Engine:
    """An engine that cannot write. Outside an explicit BEGIN every statement sees the latest commit."""
    # Opened with mode=rw, not ro: reading a WAL database may have to create its shared-memory index.
    engine = create_engine(f"sqlite+pysqlite:///file:{path}?mode=rw&uri=true", module=choose_driver())

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        _set_pragmas(connection, "query_only = ON")

    return engine


def _set_pragmas(connection: Any, *pragmas: str) -> None:
    # None: the driver opens no transactions of its own; SQLAlchemy's events do.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (f"busy_timeout = {BUSY_MILLISECONDS}", "trusted_schema = OFF", *pragmas):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


@contextmanager
def hold_lock(path: Path) -> Generator[None]:
    """Be the only writer while the context lasts. The kernel frees the lock when the process dies, however it dies.

    Raises LedgerLocked when another process holds it.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LedgerUnavailable(f"the state directory cannot be written: {error.strerror}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LedgerLocked("another gateway is writing this state directory; stop it first") from None
        yield
    finally:
        os.close(handle)
