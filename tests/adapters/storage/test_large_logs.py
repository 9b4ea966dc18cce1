"""A log that is too large to be read before a start is continued by what is kept of its tree, and read meanwhile."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy import Connection

from gateway.adapters.storage import checks
from gateway.adapters.storage.history import stored
from gateway.adapters.storage.history.places import HISTORY
from gateway.adapters.storage.inspection import verify_stored_log
from gateway.adapters.storage.projections.calls import UNFINISHED_CALLS
from gateway.adapters.storage.sqlite import DATABASE, dispose, open_for_writing
from gateway.adapters.storage.store import Store, open_store
from gateway.core import merkle_tiles
from gateway.core.errors import LedgerDamaged, Misconfigured
from gateway.core.ledger import PolicyLoaded
from gateway.core.merkle import leaf_hash
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.signed_history import signed_history

SIZE = 34


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every log is large, and the last four records of it are read at the start."""
    monkeypatch.setattr(merkle_tiles, "WIDTH", 4)
    monkeypatch.setattr(checks, "LARGEST_CHECKED_AT_ONCE", 0)
    monkeypatch.setattr(checks, "NEWEST", 4)
    monkeypatch.setattr(checks, "AT_ONCE", 3)
    monkeypatch.setattr(checks, "REST_SECONDS", 0)
    monkeypatch.setattr(checks, "BUSY_REST_SECONDS", 0)


@pytest.fixture
async def state(tmp_path: Path) -> Path:
    directory = tmp_path / "state"
    async with open_store(directory, origin=ORIGIN) as store:
        for submission in signed_history():
            await store.ledger.append(*submission)
        store.history.read_all()
    return directory


def edit(state: Path, change: str) -> None:
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.begin() as connection:
        connection.exec_driver_sql(change)


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


async def test_a_start_reads_the_newest_records_only(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_reading_all(monkeypatch)
    await add(state)
    await add(state)
    report = verify_stored_log(state)
    assert (report.sound, report.size) == (True, SIZE + 2)


@pytest.fixture
async def busy(state: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The history is further behind than what is read of a log whose history is not."""
    for name in ("QUIET_SECONDS", "LONGEST_WAIT_SECONDS"):
        monkeypatch.setattr(stored, name, 1e9)
    async with open_store(state, origin=ORIGIN) as store:
        for _ in range(3 * checks.NEWEST):
            await store.ledger.append(PolicyLoaded(1, "b" * 64))
    return state


async def test_a_start_after_a_busy_time_reads_only_what_the_history_has_not(busy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_reading_all(monkeypatch)
    read: list[tuple[int, int]] = []
    check = checks.check_stretch

    def note(connection: Connection, start: int, count: int) -> Iterator[bytes]:
        read.append((start, count))
        return check(connection, start, count)

    monkeypatch.setattr(checks, "check_stretch", note)
    checks.check_state(busy, ORIGIN)
    assert read == [(SIZE, 3 * checks.NEWEST)]


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


def test_a_start_asks_for_running_calls_without_reading_all_that_there_were(state: Path) -> None:
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.connect() as connection:
        asked = str(UNFINISHED_CALLS.compile(engine, compile_kwargs={"literal_binds": True}))
        (step,) = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked}").all()
    assert step.detail == "SCAN calls USING INDEX ix_calls_open"
