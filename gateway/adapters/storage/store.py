"""Opening the state directory: locks, checks, schema, key, mark, and then the two ports over it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage import checks
from gateway.adapters.storage.anchored import AnchoredNote, require_anchored
from gateway.adapters.storage.beginning import make_directory, undone_by_failure, unwritable
from gateway.adapters.storage.commits import Committer
from gateway.adapters.storage.eraser import Eraser
from gateway.adapters.storage.history.stored import StoredHistory, open_call_history
from gateway.adapters.storage.holding import hold_state
from gateway.adapters.storage.identity import begin_epoch, identify
from gateway.adapters.storage.keys import load_or_make_key
from gateway.adapters.storage.ledger import SqlLedger
from gateway.adapters.storage.log import is_empty, newest_note
from gateway.adapters.storage.mark import MarkFile
from gateway.adapters.storage.migration import migrate
from gateway.adapters.storage.reader import RECOVER
from gateway.adapters.storage.records import SqlRecords
from gateway.adapters.storage.sqlite import (
    DATABASE,
    WAL,
    describe,
    dispose,
    open_for_checking,
    open_for_reading,
    open_for_writing,
    reserve_log,
)
from gateway.adapters.storage.writer import Writer
from gateway.core.checkpoint import SigningKey, VerificationKey
from gateway.core.errors import LedgerDamaged, LedgerUnavailable
from gateway.core.merkle import EMPTY_ROOT, Frontier

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Store:
    """The ports over one state directory, and the key that others check its log with."""

    ledger: SqlLedger
    records: SqlRecords
    history: StoredHistory
    verification_key: VerificationKey


@asynccontextmanager
async def open_store(
    directory: Path, *, origin: str, salt: Callable[[int], bytes] = os.urandom, anchored: Sequence[AnchoredNote] = ()
) -> AsyncGenerator[Store]:
    """Everything durable, while the context lasts. `origin` names a new log, such as `console.example.com/audit`; `salt` gives
    that many random bytes; `anchored` is what lies elsewhere of the log. A directory that had to be made goes again when the
    context fails, unless somebody was enrolled, or anything else was done in it.

    Raises LedgerLocked when another gateway writes there, LedgerDamaged for a database that lost or changed what was recorded,
    Misconfigured for a log that was edited, a missing key, a database of a newer version or an unsafe SQLite, and
    LedgerUnavailable when the disk cannot be written.
    """
    async with AsyncExitStack() as held:
        made = await asyncio.to_thread(make_directory, directory)
        state = held.enter_context(hold_state(directory))
        held.enter_context(undone_by_failure(made))
        frontier = await asyncio.to_thread(checks.check_state, directory, origin)
        await asyncio.to_thread(require_anchored, directory, anchored)
        path = await asyncio.to_thread(_make_database, directory)
        writing = held.enter_context(dispose(open_for_writing(path)))
        ready = await asyncio.to_thread(make_ready, writing, directory, origin, frontier)
        state.watch(DATABASE, WAL)
        reserve_log(directory / WAL)
        reading = held.enter_context(dispose(open_for_reading(path)))
        records = SqlRecords(reading)
        held.callback(records.close)
        writer = Writer(writing, ready.committer, mark=ready.mark, eraser=Eraser(directory, ready.key), require_held=state.check)
        held.push_async_callback(writer.close)
        if path.stat().st_size > checks.LARGEST_CHECKED_AT_ONCE:
            await held.enter_async_context(_checking_meanwhile(path, frontier, writer))
        history = await held.enter_async_context(open_call_history(directory, reading, writer.quiet_seconds))
        yield Store(SqlLedger(writer, salt), records, history, ready.key.verification_key)


@dataclass(frozen=True, slots=True)
class ReadyState:
    """What a writer needs of a state directory that was checked."""

    key: SigningKey
    committer: Committer
    mark: MarkFile


def make_ready(engine: Engine, directory: Path, origin: str, frontier: Frontier) -> ReadyState:
    """Bring the schema up to date, have a key, a mark and the next epoch. Raises LedgerUnavailable, LedgerDamaged."""
    driver: Any = engine.dialect.dbapi
    try:
        with engine.begin() as connection:
            migrate(connection)
            identity = identify(connection)
        with engine.connect() as connection:
            key = load_or_make_key(directory, origin, fresh=is_empty(connection))
            note = newest_note(connection) or key.sign(0, EMPTY_ROOT)
        # Before the epoch rises: a database that was ever started on has a mark.
        mark = MarkFile(directory, key, identity.id, note)
        with engine.begin() as connection:
            epoch = begin_epoch(connection)
    except (DBAPIError, driver.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if isinstance(cause, driver.OperationalError):
            raise LedgerUnavailable(f"the database cannot be opened: {describe(cause)}") from None
        raise LedgerDamaged(f"`{DATABASE}` is damaged: {describe(cause)}; {RECOVER}") from None
    except OSError as error:
        raise unwritable(error) from None
    return ReadyState(key, Committer(engine, key, frontier, epoch), mark)


def _make_database(directory: Path) -> Path:
    path = directory / DATABASE
    try:
        # Made here rather than by SQLite, so that only its owner can read it; the log beside it inherits the mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise unwritable(error) from None
    return path


@asynccontextmanager
async def _checking_meanwhile(path: Path, frontier: Frontier, writer: Writer) -> AsyncGenerator[None]:
    """Check the pages and the records of a large database meanwhile. What is found stops the writer."""
    stop = Event()
    with dispose(open_for_checking(path)) as engine, engine.connect() as connection:
        check = asyncio.create_task(asyncio.to_thread(checks.check_meanwhile, connection, frontier, stop, writer.quiet_seconds))

        def judge(done: asyncio.Task[None]) -> None:
            error = None if done.cancelled() else done.exception()
            if isinstance(error, LedgerDamaged):
                _log.critical("%s", error.message)
                writer.refuse(error)

        check.add_done_callback(judge)
        try:
            yield
        finally:
            stop.set()
            driver: Any = connection.connection.driver_connection
            driver.interrupt()
            await asyncio.wait([check])
