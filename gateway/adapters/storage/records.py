"""The `Records` port over a database: reading back.

A look-up by key takes tens of microseconds, less than handing it to a thread, so it runs where it is asked; lists and counts
go to a small pool. Both read what was last committed: a WAL reader neither waits for the writer nor holds it up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, Executable
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage.erasure_reader import ErasureReader
from gateway.adapters.storage.projections import EveryReader
from gateway.adapters.storage.reader import RECOVER, ARow
from gateway.adapters.storage.sqlite import describe, hold_snapshot, is_damaged
from gateway.core.errors import LedgerDamaged, LedgerUnavailable

READERS: Final = 2
"""Threads for lists: enough that one long audit search does not hold up a conversation."""

Value = TypeVar("Value")


class SqlRecords(EveryReader, ErasureReader):
    """Everything that can be read back."""

    def __init__(self, engine: Engine) -> None:
        self._near = engine.connect()
        self._engine = engine
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="ledger-reader")
        self._closed = False

    def close(self) -> None:
        """Stop reading."""
        self._closed = True
        self._pool.shutdown()
        self._near.close()

    def _find(self, query: Executable, read: Callable[[ARow], Value], **parameters: Any) -> Value | None:
        self._require_open()
        try:
            row = self._near.execute(query, parameters).first()
        except DBAPIError as error:
            raise _explain(error) from None
        return None if row is None else read(row)

    async def _list(self, query: Executable, read: Callable[[ARow], Value]) -> Sequence[Value]:
        def run() -> Sequence[Value]:
            with self._engine.connect() as connection:
                return tuple(read(row) for row in connection.execute(query))

        return await self._run(run)

    async def _at_one_moment(self, read: Callable[[Connection], Value]) -> Value:
        def run() -> Value:
            with self._engine.connect() as connection:
                hold_snapshot(connection)
                return read(connection)

        return await self._run(run)

    async def _run(self, run: Callable[[], Value]) -> Value:
        self._require_open()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, run)
        except DBAPIError as error:
            raise _explain(error) from None

    def _require_open(self) -> None:
        if self._closed:
            raise LedgerUnavailable("the ledger is closed")


def _explain(error: DBAPIError) -> LedgerUnavailable:
    if error.orig is not None and is_damaged(error.orig):
        return LedgerDamaged(f"the database is damaged: {describe(error.orig)}; {RECOVER}")
    return LedgerUnavailable("the ledger cannot be read now")
