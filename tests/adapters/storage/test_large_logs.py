"""A log that is too large to be read before a start is continued by what is kept of its tree, and read meanwhile."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from sqlalchemy import Connection, Select

from gateway.adapters.storage import checks, commits
from gateway.adapters.storage.checking import verify_stored_log
from gateway.adapters.storage.history import stored, writing
from gateway.adapters.storage.history.places import HISTORY
from gateway.adapters.storage.mark import MARK
from gateway.adapters.storage.projections.audit import select_leaves
from gateway.adapters.storage.projections.calls import UNFINISHED_CALLS, count_calls_since
from gateway.adapters.storage.sqlite import DATABASE, RARE_EVENTS, dispose, open_for_writing
from gateway.adapters.storage.store import Store, open_store
from gateway.core import merkle_tiles
from gateway.core.errors import LedgerDamaged, Misconfigured
from gateway.core.ledger import PolicyLoaded
from gateway.core.merkle import leaf_hash
from gateway.runtime.ports import AuditQuery
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.signed_history import append_signed_history
from tests.harness.record_texts import UNPACK

SIZE = 34


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every log is large, and the last four records of it are read at the start."""
    monkeypatch.setattr(merkle_tiles, "WIDTH", 4)
    monkeypatch.setattr(checks, "LARGEST_CHECKED_AT_ONCE", 0)
    monkeypatch.setattr(checks, "NEWEST", 4)
    monkeypatch.setattr(commits, "FRONTIER_EVERY", 4)
    monkeypatch.setattr(checks, "AT_ONCE", 3)
    monkeypatch.setattr(checks, "REST_SECONDS", 0)
    monkeypatch.setattr(checks, "BUSY_REST_SECONDS", 0)


@pytest.fixture
async def state(tmp_path: Path) -> Path:
    directory = tmp_path / "state"
    async with open_store(directory, origin=ORIGIN) as store:
        await append_signed_history(store)
        store.history.read_all()
    return directory


def edit(state: Path, change: str) -> None:
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.begin() as connection:
        connection.exec_driver_sql(UNPACK)
        connection.exec_driver_sql(change)


def no_frontier(_connection: Connection, _most: int) -> None:
    """In place of `kept_frontier`."""


async def add(state: Path) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(PolicyLoaded(1, "b" * 64))


async def refusal(state: Path) -> str:
    """What the writer says once the check beside it has found something."""
    async with open_store(state, origin=ORIGIN) as store, asyncio.timeout(30):
        with pytest.raises(LedgerDamaged) as refused:
            await record_until_refused(store)
    return refused.value.message


async def record_until_refused(store: Store) -> None:
    while True:
        await store.ledger.append(PolicyLoaded(1, "b" * 64))


def forbid_reading_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise AssertionError("every record was read before the start")

    monkeypatch.setattr(checks, "grow_checked", fail)


@pytest.fixture
def without_frontiers(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an earlier version left it."""
    edit(state, "DELETE FROM frontiers")
    monkeypatch.setattr(checks, "kept_frontier", no_frontier)


@pytest.mark.parametrize("kept", ["the history", "frontiers", "both"])
async def test_a_start_reads_the_newest_records_only(state: Path, monkeypatch: pytest.MonkeyPatch, kept: str) -> None:
    if kept == "the history":
        edit(state, "DELETE FROM frontiers")
    if kept == "frontiers":
        (state / HISTORY).unlink()
    forbid_reading_all(monkeypatch)
    await add(state)
    await add(state)
    report = verify_stored_log(state)
    assert (report.sound, report.size) == (True, SIZE + 2)


@pytest.mark.requirement(
    "002-11", "a gateway over a large log without its history answers first, and says that the history is behind"
)
async def test_a_start_without_the_history_reads_what_came_since_the_newest_frontier(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        await add(state)
    (state / HISTORY).unlink()
    forbid_reading_all(monkeypatch)
    read = note_stretches(monkeypatch)
    checks.check_state(state, ORIGIN)
    assert read == [(SIZE + 2 - checks.NEWEST, checks.NEWEST)]
    for name in ("QUIET_SECONDS", "LONGEST_WAIT_SECONDS"):
        monkeypatch.setattr(stored, name, 1e9)
    monkeypatch.setattr(writing, "LEAVES", writing.LEAVES.limit(4))
    monkeypatch.setattr(stored, "STRETCHES_FOR_A_QUESTION", 1)
    async with open_store(state, origin=ORIGIN) as store:
        assert await store.history.unread() == SIZE + 2 - 4


@pytest.mark.parametrize("damage", ["zeroblob(length(nodes))", "x'00'", "CAST(nodes || zeroblob(32) AS BLOB)"])
async def test_a_frontier_that_leads_nowhere_is_passed_over(state: Path, damage: str) -> None:
    edit(state, f"UPDATE frontiers SET nodes = {damage}")
    await add(state)
    assert verify_stored_log(state).sound


async def test_frontiers_are_kept_with_the_first_batch_and_now_and_then(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(state, "DELETE FROM frontiers")
    async with open_store(state, origin=ORIGIN) as store:
        for _ in range(10):
            await store.ledger.append(PolicyLoaded(1, "b" * 64))
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT size FROM frontiers ORDER BY size").scalars().all() == [SIZE + 1, 36, 40, 44]


async def test_the_mark_is_met_on_the_way_from_an_older_frontier(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill came between a commit and its mark, and the newest frontier is beyond the mark."""
    mark = (state / MARK).read_bytes()
    await add(state)
    await add(state)
    (state / MARK).write_bytes(mark)
    (state / HISTORY).unlink()
    forbid_reading_all(monkeypatch)
    await add(state)
    assert verify_stored_log(state).sound


def note_stretches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """What is read of the log from now on: from which record on, and how many."""
    read: list[tuple[int, int]] = []
    check = checks.check_stretch

    def note(connection: Connection, start: int, count: int) -> Iterator[bytes]:
        read.append((start, count))
        return check(connection, start, count)

    monkeypatch.setattr(checks, "check_stretch", note)
    return read


@pytest.fixture
async def busy(state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The history is further behind than what is read of a log whose history is not."""
    for name in ("QUIET_SECONDS", "LONGEST_WAIT_SECONDS"):
        monkeypatch.setattr(stored, name, 1e9)
    async with open_store(state, origin=ORIGIN) as store:
        for _ in range(3 * checks.NEWEST):
            await store.ledger.append(PolicyLoaded(1, "b" * 64))
    return state


@pytest.mark.usefixtures("without_frontiers")
async def test_a_start_after_a_busy_time_reads_only_what_the_history_has_not(busy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_reading_all(monkeypatch)
    read = note_stretches(monkeypatch)
    checks.check_state(busy, ORIGIN)
    assert read == [(SIZE, 3 * checks.NEWEST)]


@pytest.mark.usefixtures("without_frontiers")
@pytest.mark.parametrize("place", [SIZE, SIZE + 2])
async def test_a_record_that_the_history_has_not_is_checked_before_the_start(busy: Path, place: int) -> None:
    edit(busy, f"UPDATE leaves SET body = replace(body, '\"v\":1', '\"v\":2') WHERE position = {place}")
    with pytest.raises(Misconfigured, match=f"record {place} of the audit log was changed"):
        await add(busy)


@pytest.mark.requirement(
    "002-11", "a record of a large log that was changed is noticed while the gateway runs, and it takes nothing more"
)
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "UPDATE leaves SET body = replace(body, '\"v\":1', '\"v\":2') WHERE position = 3",
            "record 3 of the audit log was changed",
        ),
        ("DELETE FROM leaves WHERE position = 7", "record 7 of the audit log is missing"),
        # A tile is over the hash of before, and the rest of the log is as it was.
        ("UPDATE leaves SET hash = zeroblob(32) WHERE position = 3", "record 3 of the audit log was changed"),
    ],
)
async def test_what_was_changed_far_back_stops_the_writer_as_soon_as_it_is_found(state: Path, change: str, told: str) -> None:
    edit(state, change)
    assert told in await refusal(state)


async def test_a_log_that_was_written_anew_far_back_is_not_what_was_signed(state: Path) -> None:
    body = '{"at":1,"event":"gateway:started","v":1}'
    edit(state, f"UPDATE leaves SET body = '{body}', hash = x'{leaf_hash(body.encode()).hex()}' WHERE position = 3")
    assert "the audit log is not what its last checkpoint signed" in await refusal(state)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (f"UPDATE leaves SET body = replace(body, '\"v\":1', '\"v\":2') WHERE position = {SIZE - 2}", "was changed"),
        (f"DELETE FROM leaves WHERE position = {SIZE - 1}", "where its last checkpoint signed"),
        (f"DELETE FROM leaves WHERE position = {SIZE - 2}", "is missing"),
    ],
)
async def test_a_damaged_end_keeps_a_gateway_from_starting(state: Path, change: str, told: str) -> None:
    edit(state, change)
    with pytest.raises(Misconfigured, match=told):
        await add(state)


@pytest.mark.usefixtures("without_frontiers")
@pytest.mark.parametrize("kept", ["gone", "of another time"])
async def test_a_log_whose_tree_is_not_kept_is_read_before_the_start(state: Path, tmp_path: Path, kept: str) -> None:
    if kept == "gone":
        (state / HISTORY).unlink()
    else:
        shutil.copy(state / HISTORY, tmp_path)
        (state / HISTORY).write_bytes((tmp_path / HISTORY).read_bytes()[:5_000])
    edit(state, "UPDATE leaves SET body = replace(body, '\"v\":1', '\"v\":2') WHERE position = 3")
    with pytest.raises(Misconfigured, match="record 3 of the audit log was changed"):
        await add(state)


async def test_an_older_copy_of_a_large_database_is_recognised(state: Path) -> None:
    older = (state / DATABASE).read_bytes()
    await add(state)
    (state / DATABASE).write_bytes(older)
    with pytest.raises(LedgerDamaged, match=f"ends after {SIZE} records"):
        await add(state)


def plan_of(state: Path, query: Select[Any]) -> list[str]:
    """How the database answers that."""
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.connect() as connection:
        asked = str(query.compile(engine, compile_kwargs={"literal_binds": True}))
        return [step.detail for step in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked}")]


def test_the_calls_of_a_day_are_counted_by_the_sessions_of_their_person(state: Path) -> None:
    steps = plan_of(state, count_calls_since("usr_1", 1))
    assert steps == ["SCAN agent_sessions", "SEARCH calls USING INDEX ix_calls_session_id_request_leaf (session_id=?)"]


def test_a_start_asks_for_running_calls_without_reading_all_that_there_were(state: Path) -> None:
    assert plan_of(state, UNFINISHED_CALLS) == ["SCAN calls USING INDEX ix_calls_open"]


@pytest.mark.parametrize("event", RARE_EVENTS)
@pytest.mark.parametrize("before", [None, 7])
def test_what_pages_ask_for_by_name_is_found_without_reading_the_log(state: Path, event: str, before: int | None) -> None:
    step, *rest = plan_of(state, select_leaves(AuditQuery(event=event, before=before)))
    assert step.startswith("SEARCH leaves USING INDEX ix_leaves_rare_event")
    # The question that a record may be packed with, by its place.
    assert {each for each in rest if "SUBQUERY" not in each} <= {"SEARCH asked USING INTEGER PRIMARY KEY (rowid=?)"}


async def test_an_event_found_by_its_index_is_each_that_has_the_name(state: Path) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(PolicyLoaded(1, "one"), PolicyLoaded(2, "two"))
        everything = await store.records.audit(AuditQuery())
        loaded = await store.records.audit(AuditQuery(event=PolicyLoaded.EVENT))
        assert [row.body["policyVersion"] for row in loaded[:2]] == ["two", "one"]
        assert list(loaded) == [row for row in everything if row.body["event"] == PolicyLoaded.EVENT]


async def test_a_leaf_that_only_speaks_of_a_rare_event_is_none(state: Path) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(PolicyLoaded(1, '"event":"policy:published"'))
        assert await store.records.audit(AuditQuery(event="policy:published")) == ()
        (loaded, *_) = await store.records.audit(AuditQuery(event=PolicyLoaded.EVENT))
        assert loaded.body["policyVersion"] == '"event":"policy:published"'
