"""One writer at a time: locks that outlive a deleted file, an epoch that ends with the next start, files that stay the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gateway.adapters.storage.holding import hold_state
from gateway.adapters.storage.identity import begin_epoch
from gateway.adapters.storage.sqlite import DATABASE, LOCK, WAL, open_for_writing
from gateway.adapters.storage.store import open_store
from gateway.core import ledger as steps
from gateway.core.errors import LedgerDamaged, LedgerLocked, LedgerSuperseded, LedgerUnavailable
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.history import History


@pytest.fixture
async def state(tmp_path: Path) -> Path:
    directory = tmp_path / "state"
    async with open_store(directory, origin=ORIGIN) as store:
        for submission in History().whole():
            await store.ledger.append(*submission)
    return directory


async def start(state: Path) -> None:
    async with open_store(state, origin=ORIGIN):
        pass


async def test_a_lock_file_that_was_deleted_lets_no_second_gateway_in_and_stops_the_first(state: Path) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        (state / LOCK).unlink()
        with pytest.raises(LedgerLocked):
            await start(state)
        with pytest.raises(LedgerSuperseded, match=r"`ledger\.db\.lock` was removed or replaced"):
            await store.ledger.append(steps.PolicyLoaded(1, "b" * 64))
        assert await store.records.audit_size() == 34


@pytest.mark.parametrize("name", [LOCK, DATABASE, WAL])
async def test_a_file_that_was_exchanged_under_a_running_gateway_stops_its_writer(state: Path, name: str) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(steps.PolicyLoaded(1, "b" * 64))
        (state / name).rename(state / "away")
        (state / name).write_bytes((state / "away").read_bytes())
        for _ in range(2):
            with pytest.raises(LedgerSuperseded, match="was removed or replaced"):
                await store.ledger.append(steps.PolicyLoaded(1, "c" * 64))


@pytest.mark.requirement("002-11", "a gateway whose log another one took over writes nothing more")
async def test_a_writer_that_was_overtaken_writes_nothing_more(state: Path) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        writing = open_for_writing(state / DATABASE)
        with writing.begin() as connection:
            begin_epoch(connection)
        writing.dispose()
        outcomes = await asyncio.gather(
            *(store.ledger.append(steps.PolicyLoaded(at, "b" * 64)) for at in range(3)), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes] == [LedgerSuperseded] * 3
        assert await store.records.audit_size() == 34


def test_a_folder_whose_lock_file_was_deleted_is_still_held(state: Path) -> None:
    with hold_state(state):
        (state / LOCK).unlink()
        with pytest.raises(LedgerLocked), hold_state(state):
            pass
    with hold_state(state):
        pass


def test_what_is_superseded_or_damaged_counts_as_unavailable() -> None:
    assert issubclass(LedgerSuperseded, LedgerUnavailable)
    assert issubclass(LedgerDamaged, LedgerUnavailable)
