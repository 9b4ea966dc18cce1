"""The writer under trouble: a full disk, too many at once, somebody who stops waiting, and the end."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from gateway.adapters.storage import store as opening
from gateway.adapters.storage import writer
from gateway.adapters.storage.inspection import examine, open_stored_log
from gateway.adapters.storage.sqlite import DATABASE, open_for_writing
from gateway.adapters.storage.store import Store, open_store
from gateway.core import ledger as steps
from gateway.core.errors import IllegalStep, LedgerBusy, LedgerUnavailable
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.history import OPERATOR, History


class Disk:
    """A disk whose size can be set, by SQLite's own page limit, while a gateway writes to it."""

    def __init__(self) -> None:
        self._connections: list[Any] = []

    def open(self, path: Path) -> Engine:
        engine = open_for_writing(path)
        event.listen(engine, "connect", self._remember)
        return engine

    def _remember(self, connection: Any, _record: object) -> None:
        self._connections.append(connection)
        # As many as a migration has, and more than a driver keeps prepared by itself.
        for number in range(200):
            connection.execute(f"SELECT {number}").fetchall()

    def fill(self) -> None:
        """No page more than there are."""
        for connection in self._connections:
            connection.execute("PRAGMA max_page_count = 1")

    def empty(self) -> None:
        """Let the file grow again."""
        for connection in self._connections:
            connection.execute("PRAGMA max_page_count = 1000000")

    def protect(self) -> None:
        """No writing from now on, as on a file system that became read-only."""
        for connection in self._connections:
            connection.execute("PRAGMA query_only = ON")

    def hear(self, listener: Callable[[str], None]) -> None:
        """Have `listener` told of each statement, in the writer's thread, as it begins."""
        for connection in self._connections:
            connection.set_trace_callback(listener)

    def count_preparations(self, counted: Callable[[], None]) -> None:
        """Have `counted` called whenever a statement is prepared: only then does SQLite ask what it may do."""

        def authorise(*_asked: object) -> int:
            counted()
            return 0

        for connection in self._connections:
            connection.set_authorizer(authorise)

    def lose_patience(self) -> None:
        """Wait for a lock for a moment only."""
        for connection in self._connections:
            connection.execute("PRAGMA busy_timeout = 20")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(opening, "open_for_writing", disk.open)
    return disk


@pytest.fixture
async def kept(disk: Disk, tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path / "state", origin=ORIGIN) as store:
        await store.ledger.append(*History().beginning())
        yield store


@pytest.mark.requirement("002-11", "an entry that does not fit on the disk is refused and not lost in silence")
async def test_a_full_disk_refuses_writes_and_takes_them_again_when_there_is_space(
    kept: Store, disk: Disk, tmp_path: Path
) -> None:
    history = History()
    size = await kept.records.audit_size()
    disk.fill()
    large = [history.message(number, "x" * 50_000) for number in range(3)]
    async with asyncio.timeout(60):
        outcomes = await asyncio.gather(*(kept.ledger.append(entry) for entry in large), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [LedgerUnavailable] * 3
    assert {str(outcome) for outcome in outcomes} == {
        "it cannot be recorded: the disk is full; it goes on as soon as there is room"
    }
    assert await kept.records.audit_size() == size
    assert await kept.records.messages("cnv_1") == ()
    disk.empty()
    async with asyncio.timeout(60):
        places = await asyncio.gather(*(kept.ledger.append(entry) for entry in large))
    assert [place for (place,) in places] == [size, size + 1, size + 2]
    with open_stored_log(tmp_path / "state") as stored:
        assert examine(stored).sound


async def test_a_database_that_became_read_only_is_said_to_be(kept: Store, disk: Disk) -> None:
    disk.protect()
    with pytest.raises(LedgerUnavailable, match=r"^it cannot be recorded: `ledger\.db` or its file system is read-only$"):
        await kept.ledger.append(History().message(0, "short"))


async def test_a_small_entry_still_fits_beside_one_that_does_not(kept: Store, disk: Disk) -> None:
    history = History()
    # What fits on the pages that exist is taken; another page is not.
    await kept.ledger.append(history.message(0, "short"))
    disk.fill()
    small = steps.PolicyLoaded(history.tick(), "b" * 64)
    async with asyncio.timeout(60):
        outcomes = await asyncio.gather(
            kept.ledger.append(history.message(1, "x" * 100_000)), kept.ledger.append(small), return_exceptions=True
        )
    assert isinstance(outcomes[0], LedgerUnavailable)
    assert isinstance(outcomes[1], tuple)


async def test_a_database_that_another_process_locks_refuses_writes_until_it_is_free(
    kept: Store, disk: Disk, tmp_path: Path
) -> None:
    history = History()
    blocker = open_for_writing(tmp_path / "state" / DATABASE)
    disk.lose_patience()
    with blocker.begin(), pytest.raises(LedgerUnavailable):
        await kept.ledger.append(history.message(0))
    blocker.dispose()
    assert await kept.ledger.append(history.message(0)) == (7,)


HOLD_THE_LOCK = """
import sys
from gateway.adapters.storage.sqlite import choose_driver
connection = choose_driver().connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@asynccontextmanager
async def locked_by_another_process(database: Path) -> AsyncGenerator[None]:
    """The write lock of a database in the hands of a process that does not let go of it."""
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD_THE_LOCK, str(database), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        assert other.stdout is not None
        assert await other.stdout.readline() == b"locked\n"
        yield
        await other.communicate(b"")


@pytest.mark.parametrize("callers", [1, 4, 30])
async def test_a_stuck_lock_costs_all_who_wait_one_time_out_together(
    kept: Store, disk: Disk, tmp_path: Path, callers: int
) -> None:
    disk.lose_patience()
    attempts: list[str] = []
    begun, all_here = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def hear(statement: str) -> None:
        if statement.startswith("BEGIN"):
            attempts.append(statement)
            loop.call_soon_threadsafe(begun.set)
            all_here.wait(60)

    async with locked_by_another_process(tmp_path / "state" / DATABASE):
        disk.hear(hear)
        # The first is under way and waits for the lock when the others come.
        appends = [asyncio.ensure_future(kept.ledger.append(steps.PolicyLoaded(0, "b" * 64)))]
        await begun.wait()
        appends += [asyncio.ensure_future(kept.ledger.append(steps.PolicyLoaded(at, "b" * 64))) for at in range(callers)]
        for _ in range(3):
            await asyncio.sleep(0)
        all_here.set()
        outcomes = await asyncio.gather(*appends, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [LedgerBusy] * (1 + callers)
        assert len(attempts) == 1
        # All of one batch: none of them is tried again by itself.
        together = [kept.ledger.append(steps.PolicyLoaded(at, "b" * 64)) for at in range(callers)]
        assert {type(outcome) for outcome in await asyncio.gather(*together, return_exceptions=True)} == {LedgerBusy}
        assert len(attempts) == 2
    assert await kept.ledger.append(steps.PolicyLoaded(99, "c" * 64)) == (7,)


async def test_more_than_may_wait_is_refused_at_once(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MOST_WAITING", 10)

    async def append(number: int) -> tuple[int | None, ...]:
        return await kept.ledger.append(steps.PolicyLoaded(number, "b" * 64))

    async with asyncio.timeout(60):
        outcomes = await asyncio.gather(*map(append, range(25)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [tuple] * 10 + [LedgerUnavailable] * 15
    assert await kept.ledger.append(steps.PolicyLoaded(99, "c" * 64)) == (17,)


async def test_what_was_submitted_is_recorded_though_nobody_waits_any_more(kept: Store) -> None:
    before = await kept.records.audit_size()
    waiting = asyncio.ensure_future(kept.ledger.append(steps.PolicyLoaded(1, "b" * 64)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await kept.ledger.append(steps.PolicyLoaded(2, "c" * 64)) == (before + 1,)


async def test_closing_writes_what_was_submitted_and_takes_nothing_more(tmp_path: Path) -> None:
    async with open_store(tmp_path / "state", origin=ORIGIN) as store:
        pending = [asyncio.ensure_future(store.ledger.append(steps.PolicyLoaded(number, "b" * 64))) for number in range(50)]
        await asyncio.sleep(0)
    async with asyncio.timeout(60):
        assert [place for (place,) in await asyncio.gather(*pending)] == list(range(50))
    with pytest.raises(LedgerUnavailable):
        await store.ledger.append(steps.PolicyLoaded(99, "b" * 64))
    with pytest.raises(LedgerUnavailable):
        await store.records.principal(OPERATOR.id)
    assert not await store.records.ready()


@pytest.mark.parametrize("content", ["half of a pair \ud83d", "\udfff"])
async def test_text_that_is_no_unicode_fails_alone(kept: Store, content: str) -> None:
    history = History()
    with pytest.raises(LedgerUnavailable):
        await kept.ledger.append(history.message(0, content))
    with pytest.raises(LedgerUnavailable):
        await kept.ledger.append(steps.ConversationRenamed(1, "cnv_1", OPERATOR.id, content))
    assert await kept.ledger.append(history.message(0, "whole")) == (7,)


async def test_a_result_that_no_two_readers_agree_on_fails_alone(kept: Store) -> None:
    history = History()
    request = history.request("call-1")
    await kept.ledger.append(history.intend(request))
    for structured in ({"n": 2**53}, {"n": float("nan")}, {"n": object()}):
        closed = history.close(request)
        object.__setattr__(closed.result, "structured", structured)
        with pytest.raises(LedgerUnavailable):
            await kept.ledger.append(closed)
    assert len(await kept.ledger.append(history.close(request))) == 1


async def test_a_call_in_a_conversation_that_does_not_exist_is_refused(kept: Store) -> None:
    history = History(conversation_id="cnv_unknown")
    with pytest.raises(Exception, match="on record already, or rests on something that is not"):
        await kept.ledger.append(history.intend(history.request("call-1")))


async def test_every_batch_has_one_checkpoint_and_no_more(kept: Store, tmp_path: Path) -> None:
    async with asyncio.timeout(60):
        await asyncio.gather(*(kept.ledger.append(steps.PolicyLoaded(number, "b" * 64)) for number in range(30)))
    with open_stored_log(tmp_path / "state") as stored:
        sizes = [int(note.split("\n")[1]) for note in stored.notes()]
    assert sizes[0] == 7
    assert sizes[-1] == 37
    assert len(sizes) < 10
    assert await kept.records.checkpoint() is not None


async def test_a_commit_prepares_no_statement_that_was_prepared_before(kept: Store, disk: Disk) -> None:
    asked: list[None] = []
    disk.count_preparations(lambda: asked.append(None))

    async def commit(version: str) -> int:
        before = len(asked)
        await kept.ledger.append(steps.PolicyLoaded(1, version * 64))
        return len(asked) - before

    # To be asked at all has SQLite prepare each statement once more.
    assert await commit("b") > 0
    assert [await commit("c"), await commit("d")] == [0, 0]


@pytest.mark.parametrize("count", [2, 17, 70, 131])
async def test_many_calls_at_once_each_change_their_own_row_and_one_that_must_not_fails_alone(kept: Store, count: int) -> None:
    history = History()
    requests = [history.request(f"call-{number}") for number in range(count)]
    odd = history.request("odd")
    async with asyncio.timeout(60):
        await asyncio.gather(*(kept.ledger.append(history.intend(request)) for request in (*requests, odd)))
        await kept.ledger.append(history.close(odd))
        # The odd one is closed already; it is in the middle of those that are not.
        closings = [history.close(request) for request in requests]
        closings.insert(count // 2, history.close(odd))
        outcomes = await asyncio.gather(*(kept.ledger.append(closed) for closed in closings), return_exceptions=True)
    refused = outcomes.pop(count // 2)
    assert isinstance(refused, IllegalStep)
    calls = {call.call_id: call for call in await kept.records.calls("cnv_1")}
    assert len(calls) == count + 1
    places = [place for place, *_ in (outcome for outcome in outcomes if isinstance(outcome, tuple))]
    assert [calls[request.call_id].closing_index for request in requests] == places
    assert len(set(places)) == count
