"""A receipt is the same whether what was written about the log is used, is behind, is of another log or is damaged."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.adapters.storage import receipts
from gateway.adapters.storage.history import stored
from gateway.adapters.storage.history.places import HISTORY
from gateway.adapters.storage.inspection import StoredLogReader, open_stored_log
from gateway.adapters.storage.receipts import read_receipt
from gateway.adapters.storage.sqlite import DATABASE, dispose, open_for_reading, open_for_writing, open_history, scrub
from gateway.adapters.storage.store import open_store
from gateway.core import merkle_tiles
from gateway.core.canonical import Json
from gateway.core.ledger import ErasureReason, LocalOperatorAdded, PolicyLoaded, RecordsErased
from gateway.core.model import Principal
from gateway.core.vocabulary import Profile
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.signed_history import signed_history

Edit = Callable[[Path], None]

CALL = "cnv_1", "call-write"
WRONG_TILES = """
WITH RECURSIVE numbers(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < 8)
INSERT OR REPLACE INTO tiles SELECT 1, number, zeroblob(32) FROM numbers
"""
HALF = 6
"""Of the submissions: the call was asked for then, and had not closed."""


@pytest.fixture(autouse=True)
def narrow_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    # A short log has some, then.
    monkeypatch.setattr(merkle_tiles, "WIDTH", 4)
    # Nothing is read but what a test has read.
    monkeypatch.setattr(stored, "QUIET_SECONDS", 1e9)
    monkeypatch.setattr(stored, "LONGEST_WAIT_SECONDS", 1e9)


@pytest.fixture
async def state(tmp_path: Path) -> Path:
    """A log that was read up to the middle of the call."""
    directory = tmp_path / "state"
    history = signed_history()
    async with open_store(directory, origin=ORIGIN) as store:
        for submission in history[:HALF]:
            await store.ledger.append(*submission)
        store.history.read_all()
        store.history.close()
        for submission in history[HALF:]:
            await store.ledger.append(*submission)
        await store.ledger.append(RecordsErased(1, ErasureReason.REQUESTED, (2,)))
        await store.ledger.append(PolicyLoaded(1, "b" * 64))
    return directory


def receipt_of(state: Path) -> tuple[bytes, int]:
    with open_stored_log(state) as seen:
        return read_receipt(seen, *CALL), seen.places.written


def change(state: Path, statement: str) -> None:
    with dispose(open_history(state / HISTORY)) as engine, engine.begin() as connection:
        connection.execute(text(statement))


def nothing(_state: Path) -> None:
    """It is behind."""


def spoil(state: Path) -> None:
    (state / HISTORY).write_bytes(b"no database at all, and long enough" * 40)


def remove(state: Path) -> None:
    (state / HISTORY).unlink()


def edited(statement: str) -> Edit:
    return partial(change, statement=statement)


@pytest.mark.parametrize(
    ("edit", "used"),
    [
        pytest.param(nothing, True, id="behind"),
        pytest.param(edited(WRONG_TILES), True, id="wrong tiles"),
        pytest.param(edited("DELETE FROM tiles WHERE number = 1"), True, id="lacking tiles"),
        pytest.param(edited("DROP TABLE person_leaves"), True, id="of before people"),
        pytest.param(edited("UPDATE progress SET last_hash = zeroblob(32)"), False, id="another log"),
        pytest.param(edited("UPDATE progress SET version = 1"), False, id="older version"),
        pytest.param(edited("DROP TABLE conversation_leaves"), False, id="damaged"),
        pytest.param(spoil, False, id="no database"),
        pytest.param(remove, False, id="gone"),
    ],
)
async def test_a_receipt_is_the_same_whatever_was_written_about_the_log(state: Path, edit: Edit, *, used: bool) -> None:
    with open_stored_log(state) as seen:
        seen.places.give_up()
        expected = read_receipt(seen, *CALL)
    edit(state)
    found, written = receipt_of(state)
    assert found == expected
    assert (written > 0) == used


def make_anew(state: Path) -> None:
    """As the gateway does with a history that is damaged."""
    remove(state)
    with dispose(open_for_reading(state / DATABASE)) as log, dispose(open_history(state / HISTORY)) as engine:
        history = stored.StoredHistory(engine, log)
        history.read_all()
        history.close()


@pytest.mark.parametrize("edit", [nothing, remove, spoil, make_anew, edited("DROP TABLE conversation_leaves")])
async def test_a_reader_that_stays_open_reads_the_files_that_are_there(state: Path, edit: Edit) -> None:
    with contextlib.closing(StoredLogReader(state, stays_open=True)) as reader:
        with reader.open() as seen:
            expected = read_receipt(seen, *CALL)
        edit(state)
        with reader.open() as seen:
            assert read_receipt(seen, *CALL) == expected
            written = seen.places.written
    assert (receipt_of(state)) == (expected, written)


async def test_a_reader_that_stays_open_sees_what_is_recorded_later_and_keeps_nothing_in_the_log(state: Path) -> None:
    with contextlib.closing(StoredLogReader(state, stays_open=True)) as reader:
        async with open_store(state, origin=ORIGIN) as store:
            with reader.open() as seen:
                before = seen.newest_note()
            await store.ledger.append(PolicyLoaded(1, "c" * 64))
            with reader.open() as seen:
                assert seen.newest_note() != before
            with dispose(open_for_writing(state / DATABASE)) as engine, engine.connect() as connection:
                assert scrub(connection, state / DATABASE, copy=True)
            with reader.open() as seen:
                assert read_receipt(seen, *CALL)


async def test_a_receipt_reads_who_is_in_its_call_and_nobody_else(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        store.history.read_all()
        before = records_read(state, monkeypatch)
        for number in range(20):
            person = Principal(f"prn_new_{number}", "New", Profile.OPERATOR)
            await store.ledger.append(LocalOperatorAdded(1, person))
        store.history.read_all()
    assert records_read(state, monkeypatch) == before


@pytest.mark.parametrize("lost", ["DROP TABLE person_leaves", "DELETE FROM person_leaves WHERE position = {last}"])
async def test_a_file_that_an_earlier_version_wrote_gets_the_places_of_people(state: Path, lost: str) -> None:
    people = "SELECT person, position FROM person_leaves ORDER BY position"
    async with open_store(state, origin=ORIGIN) as store:
        store.history.read_all()
    expected = rows_of(state, people)
    assert expected
    change(state, lost.format(last=expected[-1][1]))
    async with open_store(state, origin=ORIGIN) as store:
        store.history.read_all()
    assert rows_of(state, people) == expected


def rows_of(state: Path, query: str) -> list[tuple[str, int]]:
    with dispose(open_history(state / HISTORY)) as engine, engine.begin() as connection:
        return [(row[0], row[1]) for row in connection.execute(text(query))]


def records_read(state: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many records a receipt looks at."""
    looked: list[int] = []
    read = receipts._read_body  # pyright: ignore[reportPrivateUsage] - it sees each of them

    def note(position: int, body: str) -> Mapping[str, Json]:
        looked.append(position)
        return read(position, body)

    with monkeypatch.context() as patched:
        patched.setattr(receipts, "_read_body", note)
        receipt_of(state)
    assert looked
    return len(looked)
