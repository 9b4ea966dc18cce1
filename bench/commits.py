"""Two durable group commits per call and nothing else: no leaf, no hash, no signature, no guard."""

from __future__ import annotations

import asyncio
import itertools
import queue
import threading
from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, bindparam, insert, update

from gateway.adapters.storage.sqlite import open_for_writing


class _Kind(Enum):
    INSERT = auto()
    UPDATE = auto()


_Work = tuple[_Kind, dict[str, Any], bytes, asyncio.Future[None]]


class GroupCommits:
    """One writer thread with SQLAlchemy Core over the gateway's own engine settings. Made and used on one event loop."""

    def __init__(self, path: Path) -> None:
        self._engine = open_for_writing(path)
        tables = MetaData()
        calls = Table(
            "calls",
            tables,
            Column("id", Integer, primary_key=True),
            Column("arguments", Text),
            Column("state", Text),
            Column("result", Text),
        )
        with self._engine.begin() as connection:
            tables.create_all(connection)
            self.prepare(connection)
        closing = update(calls).where(calls.c.id == bindparam("of_id")).values(state="closed", result=bindparam("result"))
        self._statements = {_Kind.INSERT: insert(calls), _Kind.UPDATE: closing}
        self._numbers = itertools.count()
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def prepare(self, _connection: Connection) -> None:
        """What else the file has to have: nothing here."""

    def seal(self, _connection: Connection, _leaves: Sequence[bytes]) -> None:
        """What else one commit writes, of the leaves that came with its calls: nothing here."""

    async def insert(self, arguments: str, leaf: bytes = b"") -> int:
        """The first commit of a call; gives its number."""
        number = next(self._numbers)
        await self._submit(_Kind.INSERT, {"id": number, "arguments": arguments, "state": "running", "result": None}, leaf)
        return number

    async def update(self, number: int, result: str, leaf: bytes = b"") -> None:
        """The second."""
        await self._submit(_Kind.UPDATE, {"of_id": number, "result": result}, leaf)

    async def close(self) -> None:
        """Stop once everything is written."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        self._engine.dispose()

    def _submit(self, kind: _Kind, row: dict[str, Any], leaf: bytes) -> asyncio.Future[None]:
        done: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((kind, row, leaf, done))
        return done

    def _run(self) -> None:
        with self._engine.connect() as connection:
            while (first := self._queue.get()) is not None:
                batch = [first]
                while not self._queue.empty():
                    more = self._queue.get()
                    if more is None:
                        return
                    batch.append(more)
                with connection.begin():
                    for kind, statement in self._statements.items():
                        rows = [row for of, row, _, _ in batch if of is kind]
                        if rows:
                            connection.execute(statement, rows)
                    self.seal(connection, [leaf for _, _, leaf, _ in batch])
                self._loop.call_soon_threadsafe(_settle, [done for _, _, _, done in batch])


def _settle(futures: Sequence[asyncio.Future[None]]) -> None:
    for future in futures:
        # A caller that hung up has let go of its own.
        if not future.done():
            future.set_result(None)
