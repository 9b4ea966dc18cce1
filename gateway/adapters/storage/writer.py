"""The one writer: a thread that takes everything that waits, and makes it durable in one transaction.

Group commit is what makes two synchronous commits per call affordable: fifty callers share one fsync. A batch holds the
state changes, the audit leaves and one signed checkpoint over all of them. There are no savepoints (they cost two thirds of
the rate, measured): a batch that fails is rolled back whole and each of its submissions is tried alone, so that one offender
fails by itself.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Dialect, Engine
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage import statements
from gateway.adapters.storage.changes import Change
from gateway.adapters.storage.statements import LEAF, Compiled, Statement, compile_statement
from gateway.core.checkpoint import SigningKey
from gateway.core.errors import GatewayError, IllegalStep, LedgerUnavailable
from gateway.core.merkle import Frontier, grow

MOST_WAITING: Final = 4_096
"""Submissions that may wait for the disk. Beyond that a new one is refused at once: nothing runs that cannot be recorded."""

LARGEST_BATCH: Final = 512
"""Submissions per transaction; keeps the longest wait for a commit in the tens of milliseconds."""

_log = logging.getLogger(__name__)


class Prepared(NamedTuple):
    """An entry ready to be written: its leaf (no hash: not audited) and its changes."""

    changes: Sequence[Change]
    hash: bytes | None = None
    body: str = ""
    salt: bytes | None = None
    payload: bytes | None = None


Outcome = tuple[int | None, ...] | GatewayError
"""The audit indices of a submission's entries, or why none of them was written."""


@dataclass(eq=False, slots=True)
class Submission:
    """Entries that become durable together or not at all."""

    entries: Sequence[Prepared]
    done: asyncio.Future[tuple[int | None, ...]]


class Writer:
    """Owns the write connection and the tree's frontier. Made, submitted to and closed on one event loop."""

    def __init__(self, engine: Engine, key: SigningKey, frontier: Frontier) -> None:
        self._engine = engine
        self._key = key
        self._frontier = frontier
        self._compiled = _compile(engine.dialect)
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[list[Submission] | None] = SimpleQueue()
        self._gathered: list[Submission] = []
        self._waiting = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)
        self._thread.start()

    # ── on the event loop ──

    def submit(self, entries: Sequence[Prepared]) -> asyncio.Future[tuple[int | None, ...]]:
        """Queue entries; the future has their indices once they are on the disk. Raises LedgerUnavailable."""
        if self._closed:
            raise LedgerUnavailable("the ledger is closed")
        if self._waiting >= MOST_WAITING:
            raise LedgerUnavailable("the ledger is overloaded")
        self._waiting += 1
        submission = Submission(entries, self._loop.create_future())
        if not self._gathered:
            # Everything submitted in this turn of the loop goes over together: one wake-up, and a fuller batch.
            self._loop.call_soon(self._hand_over)
        self._gathered.append(submission)
        return submission.done

    async def close(self) -> None:
        """Write what was submitted, then stop."""
        if not self._closed:
            self._closed = True
            self._hand_over()
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _hand_over(self) -> None:
        if self._gathered:
            self._queue.put(self._gathered)
            self._gathered = []

    def _settle(self, batch: Sequence[Submission], outcomes: Sequence[Outcome]) -> None:
        self._waiting -= len(batch)
        for submission, outcome in zip(batch, outcomes, strict=True):
            # Whoever stopped waiting changes nothing: what was submitted is on record.
            if submission.done.done():
                continue
            if isinstance(outcome, GatewayError):
                submission.done.set_exception(outcome)
            else:
                submission.done.set_result(outcome)

    # ── in the thread ──

    def _run(self) -> None:
        with self._engine.connect() as connection:
            while (batch := self._take()) is not None:
                outcomes = self._commit(connection, batch)
                try:
                    self._loop.call_soon_threadsafe(self._settle, batch, outcomes)
                except RuntimeError:
                    # The loop is gone and with it everybody who waited.
                    return

    def _take(self) -> list[Submission] | None:
        batch = self._queue.get()
        while batch is not None and len(batch) < LARGEST_BATCH:
            try:
                more = self._queue.get_nowait()
            except Empty:
                break
            if more is None:
                self._queue.put(None)
                break
            batch.extend(more)
        return batch

    def _commit(self, connection: Connection, batch: Sequence[Submission]) -> list[Outcome]:
        try:
            with connection.begin():
                indices, frontier = self._write(connection, batch)
        except Exception as error:  # noqa: BLE001 - whatever failed, whoever waits must hear of it
            if len(batch) == 1:
                return [self._explain(error)]
            return [outcome for submission in batch for outcome in self._commit(connection, [submission])]
        self._frontier = frontier
        return [*indices]

    def _write(self, connection: Connection, batch: Sequence[Submission]) -> tuple[list[tuple[int | None, ...]], Frontier]:
        pen = _Pen(connection.connection.cursor(), self._compiled)
        position = self._frontier.size
        hashes: list[bytes] = []
        indices: list[tuple[int | None, ...]] = []
        for submission in batch:
            places: list[int | None] = []
            for entry in submission.entries:
                place = None
                if entry.hash is not None:
                    place = position
                    position += 1
                    hashes.append(entry.hash)
                for change in entry.changes:
                    pen.take(change, place)
                if place is not None:
                    pen.leaves.append((place, entry.hash, entry.body, entry.salt, entry.payload))
                places.append(place)
            indices.append(tuple(places))
        pen.flush()
        frontier = grow(self._frontier, hashes)
        if hashes:
            pen.write(statements.ADD_CHECKPOINT, {"size": frontier.size, "note": self._key.sign(frontier.size, frontier.root())})
        return indices, frontier

    def _explain(self, error: Exception) -> GatewayError:
        if isinstance(error, GatewayError):
            return error
        cause: Any = error.orig if isinstance(error, DBAPIError) else error
        driver: Any = self._engine.dialect.dbapi
        if isinstance(cause, driver.IntegrityError):
            return IllegalStep("this is on record already, or rests on something that is not")
        _log.error("the ledger could not be written: %s", cause)
        if isinstance(cause, driver.Error):
            return LedgerUnavailable("the ledger cannot be written now")
        return LedgerUnavailable("this entry cannot be written down")


@dataclass(eq=False, slots=True)
class _Pen:
    """Runs changes in order, gathering those that may run together."""

    cursor: Any
    compiled: dict[Statement, Compiled]
    leaves: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    groups: dict[Statement, list[tuple[Any, ...]]] = field(default_factory=dict[Statement, list[tuple[Any, ...]]])
    calls: dict[tuple[str, str], int | None] = field(default_factory=dict[tuple[str, str], int | None])

    def take(self, change: Change, place: int | None) -> None:
        statement, values, call = change
        if statement.takes_leaf:
            values[LEAF] = place
        if not statement.grouped or call is None:
            self.flush()
            self.write(statement, values)
            return
        # Two entries of one call keep their order; the changes of one entry are in group order by themselves.
        if self.calls.setdefault(call, place) != place:
            self.flush()
            self.calls[call] = place
        self.groups.setdefault(statement, []).append(self.compiled[statement].row(values))

    def write(self, statement: Statement, values: dict[str, Any]) -> None:
        compiled = self.compiled[statement]
        self.cursor.execute(compiled.sql, compiled.row(values))
        self._demand(statement, 1, self.cursor.rowcount)

    def flush(self) -> None:
        if self.leaves:
            self._run(self.compiled[statements.ADD_LEAF], self.leaves)
            self.leaves.clear()
        if self.groups:
            for statement in statements.GROUP_ORDER:
                rows = self.groups.get(statement)
                if rows:
                    self._demand(statement, len(rows), self._run(self.compiled[statement], rows))
            self.groups.clear()
            self.calls.clear()

    def _run(self, compiled: Compiled, rows: Sequence[tuple[Any, ...]]) -> int:
        """Gives how many rows of the table changed."""
        done = changed = 0
        for count, sql in compiled.chunks.items():
            while len(rows) - done >= count:
                self.cursor.execute(sql, [*chain.from_iterable(rows[done : done + count])])
                done += count
                changed += self.cursor.rowcount
        if done < len(rows):
            self.cursor.executemany(compiled.sql, rows[done:])
            changed += self.cursor.rowcount
        return changed

    def _demand(self, statement: Statement, rows: int, changed: int) -> None:
        if statement.refusal is not None and changed != rows:
            raise IllegalStep(statement.refusal)


def _compile(dialect: Dialect) -> dict[Statement, Compiled]:
    every = [value for value in vars(statements).values() if isinstance(value, Statement)]
    return {statement: compile_statement(statement, dialect) for statement in every}
