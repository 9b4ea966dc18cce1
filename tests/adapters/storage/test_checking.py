"""A log is checked in short transactions while the gateway goes on: what is erased meanwhile does not count as taken out."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.storage import checking
from gateway.adapters.storage.checking import GrowingLog, examine_state, verify_stored_log
from gateway.adapters.storage.inspection import StoredLogReader, examine
from gateway.adapters.storage.sqlite import DATABASE, dispose, open_for_writing
from gateway.adapters.storage.store import open_store
from gateway.core.ledger import Entry, ErasureReason, PolicyLoaded, RecordsErased
from gateway.core.verification import Flaw
from tests.fakes.history import History
from tests.harness.record_texts import UNPACK

ORIGIN = "gateway.example/audit"


@pytest.fixture
async def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(checking, "STRETCH", 3)
    async with open_store(tmp_path, origin=ORIGIN) as store:
        for entries in History().whole():
            await store.ledger.append(*entries)
    return tmp_path


def write(state: Path, statement: str, *values: object) -> None:
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.begin() as connection:
        connection.exec_driver_sql(UNPACK)
        connection.exec_driver_sql(statement, values)


def with_payload(state: Path) -> list[int]:
    with dispose(open_for_writing(state / DATABASE)) as engine, engine.connect() as connection:
        places = connection.exec_driver_sql("SELECT position FROM leaves WHERE payload IS NOT NULL ORDER BY position")
        return list(places.scalars())


async def append(state: Path, *entries: Entry) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(*entries)


def growing(state: Path) -> GrowingLog:
    reader = StoredLogReader(state)
    with reader.open() as stored:
        return GrowingLog(reader, stored)


async def test_the_log_is_the_one_of_the_beginning_whatever_comes_meanwhile(state: Path) -> None:
    beginning, before = growing(state), verify_stored_log(state)
    await append(state, PolicyLoaded(1, "b" * 64))
    report = examine(beginning, later=beginning.later)
    assert (report.sound, report.size, report.root) == (True, before.size, before.root)
    assert verify_stored_log(state).size == before.size + 1


@pytest.mark.parametrize("erased", ["an early one", "a late one"])
async def test_what_is_erased_while_the_log_is_checked_was_not_taken_out(state: Path, erased: str) -> None:
    beginning = growing(state)
    place = with_payload(state)[0 if erased == "an early one" else -1]
    await append(state, RecordsErased(1_795_000_000_000, ErasureReason.RETENTION, (place,)))
    assert place not in with_payload(state)
    assert (found := examine(beginning).fault) is not None
    assert (found.flaw, found.index) == (Flaw.TAKEN, place)
    report = examine(beginning, later=beginning.later)
    assert (report.sound, report.erased) == (True, 1)


async def test_an_erasure_that_no_checkpoint_signed_names_nothing(state: Path) -> None:
    beginning, place = growing(state), with_payload(state)[-1]
    await append(state, RecordsErased(1_795_000_000_000, ErasureReason.RETENTION, (place,)))
    # Ten of the signature's characters, whichever they are: no one letter stands in every signature.
    forged = "substr(note, 1, length(note) - 20) || 'AAAAAAAAAA' || substr(note, -10)"
    write(state, f"UPDATE checkpoints SET note = {forged} WHERE size = (SELECT max(size) FROM checkpoints)")
    report = examine(beginning, later=beginning.later)
    assert report.fault is not None
    assert report.fault.flaw is Flaw.TAKEN


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE leaves SET body = body || ' ' WHERE position = 4",
        "DELETE FROM leaves WHERE position = 4",
        "DELETE FROM leaves WHERE position = (SELECT max(position) FROM leaves)",
        "DELETE FROM checkpoints WHERE size = (SELECT max(size) FROM checkpoints)",
        "DELETE FROM checkpoints",
        "DELETE FROM leaves",
    ],
)
async def test_what_is_wrong_is_found_as_in_one_transaction(state: Path, damage: str) -> None:
    write(state, damage)
    report = examine_state(state)
    with StoredLogReader(state).open() as stored:
        assert report == examine(stored)
    assert not report.sound
    assert not examine(growing(state)).sound


async def test_no_transaction_is_open_between_two_stretches(state: Path) -> None:
    beginning, size = growing(state), len(list(growing(state).leaves()))
    read = 0
    for leaf in beginning.leaves():
        read += 1
        if leaf.index % 3 == 2:
            # The write-ahead log can be emptied, which no reader of an older moment lets happen.
            write(state, "UPDATE frontiers SET nodes = nodes")
            with dispose(open_for_writing(state / DATABASE)) as engine, engine.connect() as connection:
                cursor = connection.connection.cursor()
                assert cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    assert read == size
