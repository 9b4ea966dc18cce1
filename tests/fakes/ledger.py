"""The ledger and its records in memory: the product's own statements, without its threads, its disk and its lock.

One object is both ports. `entries` is everything that was appended, and `failure` makes the next appends fail as a full disk
would. An append is done when the call returns, so a test sees what it caused without waiting. The contract suite in
`tests/adapters/storage` holds it and the real adapter to the same behaviour.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from threading import Lock
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Executable, NullPool, create_engine, event

from gateway.adapters.storage.commits import Committer, prepare
from gateway.adapters.storage.erasure_reader import ErasureReader
from gateway.adapters.storage.identity import begin_epoch
from gateway.adapters.storage.log import newest_note, read_leaves
from gateway.adapters.storage.projections import EveryReader
from gateway.adapters.storage.reader import ARow
from gateway.adapters.storage.record_texts import register_functions
from gateway.adapters.storage.sqlite import choose_driver
from gateway.adapters.storage.statements import CompiledStatements
from gateway.adapters.storage.tables import metadata
from gateway.core.checkpoint import SigningKey
from gateway.core.errors import GatewayError
from gateway.core.ledger import Entry
from gateway.core.merkle import Frontier
from gateway.core.verification import LeafRecord, LogReport, verify

KEY = SigningKey("countersign.test", bytes(range(32)))

Value = TypeVar("Value")


def _open_engine() -> Engine:
    """An engine whose every connection is a new database in memory, with all tables.

    One for the process: what SQLAlchemy compiled stays with the engine, and the tables are copied, not made again.
    """
    driver: Any = choose_driver()

    def connect() -> Any:
        # A check of the log reads in another thread; the lock below keeps the two apart.
        connection = driver.connect(":memory:", isolation_level=None, check_same_thread=False)
        register_functions(connection)
        return connection

    template = connect()

    def copy_template() -> Any:
        connection = connect()
        template.backup(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    building = create_engine("sqlite+pysqlite://", module=driver, creator=lambda: template)
    metadata.create_all(building)
    with building.connect() as connection:
        begin_epoch(connection)
        connection.commit()
    engine = create_engine("sqlite+pysqlite://", module=driver, creator=copy_template, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:  # pyright: ignore[reportUnusedFunction] - called by the event
        connection.connection.cursor().execute("BEGIN")

    return engine


EPOCH = 1
ENGINE = _open_engine()
STATEMENTS = CompiledStatements(ENGINE.dialect)


class MemoryLedger(EveryReader, ErasureReader):
    """Both ports, `Ledger` and `Records`, over a database of its own."""

    def __init__(self, key: SigningKey = KEY) -> None:
        self.entries: list[Entry] = []
        self.failure: GatewayError | None = None
        self._key = key
        self._connection = ENGINE.connect()
        self._committer = Committer(ENGINE, key, Frontier(), EPOCH, STATEMENTS)
        self._reading_or_writing = Lock()

    def append(self, *entries: Entry) -> Awaitable[tuple[int | None, ...]]:
        committed: asyncio.Future[tuple[int | None, ...]] = asyncio.get_running_loop().create_future()
        try:
            committed.set_result(self._commit(entries))
        except GatewayError as error:
            committed.set_exception(error)
        return committed

    def _commit(self, entries: Sequence[Entry]) -> tuple[int | None, ...]:
        if self.failure is not None:
            raise self.failure
        prepared = [prepare(entry, salt=bytes) for entry in entries]
        with self._reading_or_writing:
            (outcome,) = self._committer.commit(self._connection, [prepared])
        if isinstance(outcome, GatewayError):
            raise outcome
        self.entries.extend(entries)
        return outcome

    async def ready(self) -> bool:
        return self.failure is None

    def note(self) -> str | None:
        """The newest checkpoint."""
        with self._reading_or_writing, self._connection.begin():
            return newest_note(self._connection)

    def log(self) -> tuple[LeafRecord, ...]:
        """The audit log."""
        with self._reading_or_writing, self._connection.begin():
            return tuple(read_leaves(self._connection))

    def check(self) -> LogReport:
        """What a check of the whole log says."""
        note = self.note()
        return verify(self.log(), () if note is None else (note,), self._key.verification_key)

    def copy_to(self, target: Any) -> None:
        """Make a connection of the driver's hold what this ledger holds."""
        with self._reading_or_writing:
            source: Any = self._connection.connection.driver_connection
            source.backup(target)

    async def checkpoint(self) -> str | None:
        return self.note()

    def _find(self, query: Executable, read: Callable[[ARow], Value], **parameters: Any) -> Value | None:
        with self._reading_or_writing, self._connection.begin():
            row = self._connection.execute(query, parameters).first()
        return None if row is None else read(row)

    async def _list(self, query: Executable, read: Callable[[ARow], Value]) -> Sequence[Value]:
        with self._reading_or_writing, self._connection.begin():
            return tuple(read(row) for row in self._connection.execute(query))

    async def _at_one_moment(self, read: Callable[[Connection], Value]) -> Value:
        with self._reading_or_writing, self._connection.begin():
            return read(self._connection)
