"""The `CallHistory` port over its own database, and the reading of the log that keeps it up to date."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import DBAPIError

from gateway.adapters.storage import tables as log
from gateway.adapters.storage.history import queries
from gateway.adapters.storage.history.places import HISTORY, index_people
from gateway.adapters.storage.history.writing import HistoryWriter, begin, fits, read_call, read_progress
from gateway.adapters.storage.sqlite import describe, dispose, is_damaged, open_history
from gateway.core.call_history import OPEN, AuditedCall, read_rules
from gateway.core.errors import LedgerUnavailable
from gateway.core.vocabulary import ApprovalKind, ApprovalStatus
from gateway.runtime.ports import (
    CallCounts,
    HistoryChoices,
    HistoryFilter,
    ModelTotals,
    PersonTasks,
    QuestionLoad,
)
from gateway.runtime.ports.history import Bucket

PAUSE_SECONDS: Final = 1.0
"""Between two looks for new leaves while nobody asks."""

QUIET_SECONDS: Final = 0.25
"""Since the last commit, before leaves are read that nobody asks for: reading shares the interpreter with the calls, and beside
fifty callers it doubled the slowest hundredth (bench/README.md)."""

LONGEST_WAIT_SECONDS: Final = 30.0
"""For such a quiet moment. Where none comes, one stretch is read in each pause: the history falls behind, and not for good."""

STRETCHES_FOR_A_QUESTION: Final = 8
"""Stretches that are read before a question is answered, in a quarter of a second. A log that is further ahead is read in the
background, and the answer says how much of it is missing."""

_log = logging.getLogger(__name__)

Value = TypeVar("Value")


class StoredHistory:
    """Answers in threads of its own accord; one of them at a time reads on in the log."""

    def __init__(self, engine: Engine, log_engine: Engine, discard: Callable[[], None] = lambda: None) -> None:
        """`engine` may write the history, `log_engine` sees the log. `discard` removes the history's file."""
        self._engine = engine
        self._discard = discard
        self._log = log_engine
        self._writer: HistoryWriter | None = None
        self._reading_on = Lock()
        self._held: list[Connection] = []

    # ── keeping up ──

    async def follow(self, quiet_seconds: Callable[[], float]) -> None:
        """Read on in the log, until cancelled. `quiet_seconds` says since when the ledger had nothing to do."""
        loop = asyncio.get_running_loop()
        read_at = loop.time()
        while True:
            quiet = quiet_seconds() >= QUIET_SECONDS
            behind = False
            if quiet or loop.time() - read_at >= LONGEST_WAIT_SECONDS:
                try:
                    behind = await asyncio.to_thread(self._read_on, 1)
                except LedgerUnavailable as error:
                    _log.warning("%s", error.message)
                if quiet:
                    read_at = loop.time()
            await asyncio.sleep(0 if quiet and behind else PAUSE_SECONDS)

    def read_all(self) -> int:
        """Read all of the log now; it blocks. Gives how many leaves were read in all. Raises LedgerUnavailable."""
        while self._read_on(STRETCHES_FOR_A_QUESTION):
            pass
        return 0 if self._writer is None else self._writer.progress.size

    def close(self) -> None:
        """Stop reading."""
        with self._reading_on:
            self._forget()

    def _read_on(self, stretches: int) -> bool:
        """Read at most so many stretches. Whether there may be more."""
        with self._reading_on, _explained():
            try:
                return self._step(stretches)
            except Exception as error:
                if not is_damaged(_driver_error(error)):
                    raise
            _log.warning("`%s` is damaged, and made again from the log", HISTORY)
            self._engine.dispose()
            self._discard()
            return self._step(stretches)

    def _step(self, stretches: int) -> bool:
        try:
            writer = self._writer or self._open()
            return all(writer.step() for _ in range(stretches))
        except BaseException:
            # What it remembers may be ahead of the tables now.
            self._forget()
            raise

    def _open(self) -> HistoryWriter:
        reading, writing = self._log.connect(), self._engine.connect()
        self._held = [reading, writing]
        progress = read_progress(writing)
        if progress is None or not fits(reading, progress):
            writing.rollback()
            with writing.begin():
                begin(writing)
        writing.rollback()
        with writing.begin():
            index_people(reading, writing)
        self._writer = HistoryWriter(reading, writing)
        return self._writer

    def _forget(self) -> None:
        self._writer = None
        for connection in self._held:
            connection.close()
        self._held = []

    async def _ask(self, answer: Callable[[Connection], Value]) -> Value:
        def run() -> Value:
            self._read_on(STRETCHES_FOR_A_QUESTION)
            with _explained(), self._engine.connect() as connection, connection.begin():
                return answer(connection)

        return await asyncio.to_thread(run)

    # ── the port ──

    async def unread(self) -> int:
        """Leaves that are not told yet."""

        def run() -> int:
            more = self._read_on(STRETCHES_FOR_A_QUESTION)
            read = 0 if self._writer is None else self._writer.progress.size
            if not more:
                return 0
            with _explained(), self._log.connect() as connection:
                return max((connection.execute(select(func.max(log.leaves.c.position))).scalar() or 0) + 1 - read, 0)

        return await asyncio.to_thread(run)

    async def page(self, wanted: HistoryFilter, before: tuple[int, int] | None, limit: int) -> Sequence[AuditedCall]:
        """Newest first."""

        def answer(connection: Connection) -> Sequence[AuditedCall]:
            chosen = queries.choose(connection, wanted)
            return [read_call(row) for row in queries.page(connection, chosen, before, limit)]

        return await self._ask(answer)

    async def count(self, wanted: HistoryFilter) -> CallCounts:
        """By outcome, in all and over time."""

        def answer(connection: Connection) -> CallCounts:
            chosen = queries.choose(connection, wanted)
            step = queries.step_of(chosen)
            buckets = queries.by_bucket(queries.count(connection, chosen), step)
            outcomes: dict[str, int] = defaultdict(int)
            for bucket in buckets.values():
                for outcome, calls in bucket.items():
                    outcomes[outcome] += calls
            return CallCounts(
                since=chosen.since,
                until=chosen.until,
                step_ms=step,
                total=sum(outcomes.values()),
                outcomes=dict(outcomes),
                buckets=tuple(Bucket(at, buckets[at]) for at in sorted(buckets)),
            )

        return await self._ask(answer)

    async def choices(self, principal_id: str | None) -> HistoryChoices:
        """What occurs in the log."""

        def answer(connection: Connection) -> HistoryChoices:
            def values(name: str) -> list[str]:
                return sorted(connection.execute(queries.values_of(name, principal_id)).scalars())

            rules = {rule for written in values("rules") for rule in read_rules(written)}
            return HistoryChoices(
                people=values("principal_id"),
                tools=values("tool"),
                sources=values("source"),
                models=values("model_id"),
                rules=sorted(rules),
                policy_versions=values("policy_version"),
            )

        return await self._ask(answer)

    async def newest_after(self, at: int, principal_id: str | None) -> int | None:
        """Where the clock was set back, calls began later than now."""
        return await self._ask(lambda connection: connection.execute(queries.newest_after(at, principal_id)).scalar())

    async def find_call(self, position: int) -> AuditedCall | None:
        """The call that begins with that leaf."""

        def answer(connection: Connection) -> AuditedCall | None:
            row = connection.execute(queries.find_call(position)).first()
            return None if row is None else read_call(row)

        return await self._ask(answer)

    async def question_load(self, since: int, until: int, principal_id: str | None) -> Sequence[QuestionLoad]:
        """By person and tool, the most asked first."""

        def answer(connection: Connection) -> Sequence[QuestionLoad]:
            return _sum_questions(connection.execute(queries.questions(since, until, principal_id)))

        return await self._ask(answer)

    async def tasks(self, since: int, until: int, principal_id: str | None) -> Sequence[PersonTasks]:
        """Turns by person."""

        def answer(connection: Connection) -> Sequence[PersonTasks]:
            found = connection.execute(queries.turns_by_person(since, until, principal_id))
            return [PersonTasks(row[0], int(row[1])) for row in found]

        return await self._ask(answer)

    async def model_totals(self, since: int, until: int, principal_id: str | None) -> Sequence[ModelTotals]:
        """By model, the most used first."""

        def answer(connection: Connection) -> Sequence[ModelTotals]:
            used = {row.model_id: row for row in connection.execute(queries.use_by_model(since, until, principal_id))}
            called: dict[str, Counter[str]] = defaultdict(Counter)
            for query in queries.calls_by_model(since, until, principal_id):
                for row in connection.execute(query):
                    called[row[0]].update(calls=int(row[1]), calls_ran=int(row[2] or 0))
            totals = [_sum_model(model, used.get(model), called[model]) for model in used.keys() | called.keys()]
            return sorted(totals, key=lambda each: (-each.requests, -each.calls, each.model_id))

        return await self._ask(answer)


def _sum_model(model: str, used: Any, called: Counter[str]) -> ModelTotals:
    sums = {name: 0 if used is None else int(getattr(used, name)) for name in queries.USED}
    return ModelTotals(model_id=model, **sums, calls=called["calls"], calls_ran=called["calls_ran"])


def _sum_questions(rows: Any) -> Sequence[QuestionLoad]:
    answers: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    waits: dict[tuple[str, str], list[int]] = defaultdict(list)
    approved: set[tuple[str, str]] = set()
    for row in rows:
        key = row.principal_id, row.tool
        counts = answers[key]
        counts["asked"] += 1
        counts[row.answer or OPEN] += 1
        if row.answer in (ApprovalStatus.APPROVED, ApprovalStatus.DENIED):
            waits[key].append(max(row.decided_at - row.asked_at, 0))
        # No grant covers what needs a passkey each time.
        if row.answer == ApprovalStatus.APPROVED and row.approval_kind == ApprovalKind.CONSENT:
            once = row.conversation_id, row.tool
            counts["repeated"] += once in approved
            approved.add(once)
    loads = [
        QuestionLoad(
            principal_id=person,
            tool=tool,
            asked=counts["asked"],
            approved=counts[ApprovalStatus.APPROVED],
            denied=counts[ApprovalStatus.DENIED],
            expired=counts[ApprovalStatus.EXPIRED],
            cancelled=counts[ApprovalStatus.CANCELLED],
            repeated=counts["repeated"],
            waits=tuple(sorted(waits[person, tool])),
        )
        for (person, tool), counts in answers.items()
    ]
    return sorted(loads, key=lambda each: (-each.asked, each.principal_id, each.tool))


@contextmanager
def _explained() -> Generator[None]:
    try:
        yield
    except DBAPIError as error:
        told = f"the history of calls cannot be read now: {describe(error.orig)}"
        raise LedgerUnavailable(f"{told}; `countersign audit verify` says whether the log is sound") from None


def _driver_error(error: BaseException) -> BaseException:
    # Errors of a new connection come as the driver's own.
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


@asynccontextmanager
async def open_call_history(
    directory: Path, log_engine: Engine, quiet_seconds: Callable[[], float]
) -> AsyncGenerator[StoredHistory]:
    """The history in a state folder, kept up to date while the context lasts, in moments when the ledger has nothing to do."""
    path = directory / HISTORY

    def discard() -> None:
        for name in (HISTORY, f"{HISTORY}-wal", f"{HISTORY}-shm"):
            (directory / name).unlink(missing_ok=True)

    with suppress(OSError):
        # Made here rather than by SQLite, so that only its owner can read it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    with dispose(open_history(path)) as engine:
        history = StoredHistory(engine, log_engine, discard)
        following = asyncio.create_task(history.follow(quiet_seconds))
        try:
            yield history
        finally:
            following.cancel()
            await asyncio.wait([following])
            await asyncio.to_thread(history.close)
