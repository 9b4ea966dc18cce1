"""The one writer: a thread that takes everything that waits, and makes it durable in one transaction.

Group commit is what makes two synchronous commits per call affordable: fifty callers share one fsync.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final

from sqlalchemy import Connection, Engine

from gateway.adapters.storage.commits import Committer, Outcome, Prepared
from gateway.adapters.storage.eraser import Eraser
from gateway.adapters.storage.mark import SYNC_SECONDS, MarkFile
from gateway.core.errors import GatewayError, LedgerBusy, LedgerUnavailable
from gateway.core.ledger import ErasureReason

MOST_WAITING: Final = 4_096
"""Submissions that may wait for the disk. Beyond that a new one is refused at once: nothing runs that cannot be recorded."""

LARGEST_BATCH: Final = 512
"""Submissions per transaction; keeps the longest wait for a commit in the tens of milliseconds."""


@dataclass(eq=False, slots=True)
class Submission:
    """Entries that become durable together or not at all."""

    entries: Sequence[Prepared]
    done: asyncio.Future[tuple[int | None, ...]]


class Writer:
    """Owns the write connection. Made, submitted to and closed on one event loop."""

    def __init__(
        self,
        engine: Engine,
        committer: Committer,
        *,
        mark: MarkFile | None = None,
        eraser: Eraser | None = None,
        require_held: Callable[[], None] = lambda: None,
    ) -> None:
        """`mark` is told of every batch, and closed with the writer; `eraser` of those that erase. `require_held` raises
        GatewayError when the files are not the writer's own any more."""
        self._engine = engine
        self._committer = committer
        self._mark = mark
        self._eraser = eraser
        self._require_held = require_held
        self._refusal: GatewayError | None = None
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[list[Submission] | None] = SimpleQueue()
        self._gathered: list[Submission] = []
        self._waiting = 0
        self._settled_at = self._loop.time()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)
        self._thread.start()

    # ── on the event loop ──

    def submit(self, entries: Sequence[Prepared]) -> asyncio.Future[tuple[int | None, ...]]:
        """Queue entries; the future has their indices once they are on the disk. Raises LedgerUnavailable."""
        if self._closed:
            raise LedgerUnavailable("the ledger is closed")
        if self._refusal is not None:
            raise self._refusal
        if self._waiting >= MOST_WAITING:
            raise LedgerUnavailable("the ledger is overloaded")
        self._waiting += 1
        submission = Submission(entries, self._loop.create_future())
        if not self._gathered:
            # Everything submitted in this turn of the loop goes over together: one wake-up, and a fuller batch.
            self._loop.call_soon(self._hand_over)
        self._gathered.append(submission)
        return submission.done

    def quiet_seconds(self) -> float:
        """Since when nothing was submitted and not answered; 0 while something waits for the disk."""
        return 0 if self._waiting else self._loop.time() - self._settled_at

    def refuse(self, error: GatewayError) -> None:
        """Take nothing more, for good, and say why."""
        self._refusal = error

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
        self._settled_at = self._loop.time()
        for submission, outcome in zip(batch, outcomes, strict=True):
            # A caller that stopped waiting changes nothing: what was submitted is recorded.
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
                if isinstance(outcomes[0], LedgerBusy):
                    # Who came while this batch waited would wait for the same lock again: one time-out is enough for all.
                    late = self._take_waiting()
                    batch, outcomes = [*batch, *late], [*outcomes, *[outcomes[0]] * len(late)]
                try:
                    self._loop.call_soon_threadsafe(self._settle, batch, outcomes)
                except RuntimeError:
                    # The loop is closed, so nobody waits any more.
                    break
        if self._mark is not None:
            self._mark.close()

    def _commit(self, connection: Connection, batch: Sequence[Submission]) -> Sequence[Outcome]:
        erasures = [entry.erasure for each in batch for entry in each.entries if entry.erasure is not None]
        try:
            self._require_held()
            if erasures and self._eraser is not None:
                self._eraser.begin(erasures)
        except GatewayError as error:
            return [error] * len(batch)
        outcomes = self._committer.commit(connection, [submission.entries for submission in batch])
        # Before anybody is told that it is recorded: what was acknowledged is never ahead of the mark.
        if self._mark is not None and self._committer.note is not None:
            self._mark.write(self._committer.note)
        if erasures and self._eraser is not None:
            self._eraser.finish(connection, whole=any(each.reason is not ErasureReason.RETENTION for each in erasures))
        return outcomes

    def _take_waiting(self) -> list[Submission]:
        """What waits now, without waiting for more."""
        waiting: list[Submission] = []
        while not self._queue.empty():
            more = self._queue.get_nowait()
            if more is None:
                self._queue.put(None)
                break
            waiting.extend(more)
        return waiting

    def _take(self) -> list[Submission] | None:
        batch = self._wait()
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

    def _wait(self) -> list[Submission] | None:
        """The next submissions. While nobody has any, the mark reaches the disk."""
        if self._mark is None or not self._mark.unsynced:
            return self._queue.get()
        try:
            return self._queue.get(timeout=SYNC_SECONDS)
        except Empty:
            self._mark.settle()
            return self._queue.get()
