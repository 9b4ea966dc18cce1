"""Opening the state directory: lock, schema, key, self-check, and then the two ports over it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage.engine import DATABASE, LOCK, hold_lock, open_for_reading, open_for_writing
from gateway.adapters.storage.keys import load_or_make_key
from gateway.adapters.storage.ledger import SqlLedger
from gateway.adapters.storage.log import is_empty, resume
from gateway.adapters.storage.migration import migrate
from gateway.adapters.storage.records import SqlRecords
from gateway.adapters.storage.writer import Writer
from gateway.core.checkpoint import SigningKey, VerificationKey
from gateway.core.errors import LedgerUnavailable, Misconfigured
from gateway.core.merkle import Frontier


@dataclass(frozen=True, slots=True)
class Store:
    """The ports over one state directory, and the key that others check its log with."""

    ledger: SqlLedger
    records: SqlRecords
    verification_key: VerificationKey


@asynccontextmanager
async def open_store(directory: Path, *, origin: str) -> AsyncGenerator[Store]:
    """Everything durable, while the context lasts. `origin` names a new log, such as `console.example.com/audit`.

    Raises LedgerLocked when another gateway writes there, Misconfigured for a log that does not add up, a missing key, a
    database of a newer version or an unsafe SQLite, and LedgerUnavailable when the disk will not have it.
    """
    async with AsyncExitStack() as held:
        path = await asyncio.to_thread(_make_directory, directory)
        held.enter_context(hold_lock(directory / LOCK))
        writing = held.enter_context(_dispose(open_for_writing(path)))
        key, frontier = await asyncio.to_thread(_make_ready, writing, directory, origin)
        reading = held.enter_context(_dispose(open_for_reading(path)))
        records = SqlRecords(reading)
        held.callback(records.close)
        writer = Writer(writing, key, frontier)
        held.push_async_callback(writer.close)
        yield Store(SqlLedger(writer), records, key.verification_key)


def _make_directory(directory: Path) -> Path:
    path = directory / DATABASE
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Made here rather than by SQLite, so that only its owner can read it; the log beside it inherits the mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise LedgerUnavailable(f"the state directory cannot be written: {error.strerror}") from None
    return path


def _make_ready(engine: Engine, directory: Path, origin: str) -> tuple[SigningKey, Frontier]:
    driver: Any = engine.dialect.dbapi
    try:
        with engine.begin() as connection:
            migrate(connection)
            key = load_or_make_key(directory, origin, fresh=is_empty(connection))
            return key, resume(connection, key.verification_key)
    except (DBAPIError, driver.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(cause, driver.OperationalError):
            raise LedgerUnavailable(f"the database cannot be opened: {cause}") from None
        raise Misconfigured(f"`{DATABASE}` is damaged or no database of this gateway: {cause}") from None


@contextmanager
def _dispose(engine: Engine) -> Generator[Engine]:
    try:
        yield engine
    finally:
        engine.dispose()
