"""An export of a log that a gateway goes on with: one state of it, read in short transactions."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.adapters.storage.export_writing import OpenLog, write_export
from gateway.adapters.storage.exports import examine_export
from gateway.adapters.storage.inspection import StoredLog, open_stored_log
from gateway.adapters.storage.sqlite import DATABASE, choose_driver
from gateway.adapters.storage.store import open_store
from gateway.core.errors import LedgerUnavailable
from gateway.core.ledger import (
    CallSubject,
    ConversationDeleted,
    Entry,
    ErasureReason,
    PolicyLoaded,
    RecordsErased,
    SnapshotIssued,
)
from gateway.core.verification import LogFault
from tests.fakes.history import OPERATOR, PUBLISHED, History
from tests.fakes.signed_history import append_signed_history

ORIGIN = "gateway.example/audit"
STRETCH = 5


@pytest.fixture
async def state(tmp_path: Path) -> Path:
    directory = tmp_path / "state"
    async with open_store(directory, origin=ORIGIN) as store:
        await append_signed_history(store)
    return directory


def append(state: Path, *entries: Entry) -> None:
    async def write() -> None:
        async with open_store(state, origin=ORIGIN) as store:
            await store.ledger.append(*entries)

    asyncio.run(write())


def meanwhile(state: Path, at: int, happens: Callable[[], None]) -> OpenLog:
    """The log, and what happens before it is opened for that time."""
    opened = 0

    @contextmanager
    def open_log() -> Generator[StoredLog]:
        nonlocal opened
        opened += 1
        if opened == at:
            happens()
        with open_stored_log(state) as stored:
            yield stored

    return open_log


def export(open_log: OpenLog, stretch: int = STRETCH) -> bytes:
    file = io.BytesIO()
    write_export(open_log, file, stretch=stretch)
    return file.getvalue()


def fault_of(exported: bytes, folder: Path) -> LogFault | None:
    file = folder / "export.jsonl"
    file.write_bytes(exported)
    return examine_export(file, every_signature=True)[0].fault


def leaves_of(exported: bytes) -> Sequence[dict[str, Any]]:
    return [line for line in map(orjson.loads, exported.splitlines()) if line["type"] == "leaf"]


def with_payload(exported: bytes) -> Sequence[int]:
    return [leaf["index"] for leaf in leaves_of(exported) if leaf["payload"] is not None]


@pytest.mark.parametrize("stretch", [1, 17, 34])
def test_a_log_that_rests_is_the_same_file_in_stretches_of_any_length(state: Path, tmp_path: Path, stretch: int) -> None:
    whole = export(lambda: open_stored_log(state), 1_000)
    assert export(lambda: open_stored_log(state), stretch) == whole
    assert fault_of(whole, tmp_path) is None


def test_no_transaction_outlives_a_stretch_so_the_write_ahead_log_is_used_again(state: Path) -> None:
    free: list[bool] = []

    def write_and_check() -> None:
        append(state, PolicyLoaded(1_795_000_000_000, "b" * 64))
        with closing(choose_driver().connect(state / DATABASE)) as connection:
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            free.append(not busy)

    export(meanwhile(state, 4, write_and_check))
    assert free == [True]


def test_what_is_recorded_meanwhile_is_in_the_file_with_its_checkpoint(state: Path, tmp_path: Path) -> None:
    exported = export(meanwhile(state, 4, lambda: append(state, PolicyLoaded(1_795_000_000_000, "b" * 64))))
    assert fault_of(exported, tmp_path) is None
    assert len(leaves_of(exported)) == 35


@pytest.mark.parametrize("at", [2, 4, 8])
def test_what_is_erased_meanwhile_is_gone_from_what_was_written_before(state: Path, tmp_path: Path, at: int) -> None:
    before = with_payload(export(lambda: open_stored_log(state)))
    erased = (before[0], before[-1])
    erasure = RecordsErased(1_795_000_000_000, ErasureReason.REQUESTED, erased, CallSubject("cnv_1", "call-write"))
    exported = export(meanwhile(state, at, lambda: append(state, erasure)))
    assert fault_of(exported, tmp_path) is None
    assert with_payload(exported) == [index for index in before if index not in erased]
    assert exported == export(lambda: open_stored_log(state))


def test_the_messages_of_a_conversation_that_is_deleted_meanwhile_are_gone_too(state: Path, tmp_path: Path) -> None:
    append(state, History(now=1_795_000_000_000).message(3, "a text"), PolicyLoaded(1_795_000_000_000, "b" * 64))
    append(state, *[PolicyLoaded(1_795_000_000_000, "b" * 64)] * STRETCH)
    deletion = ConversationDeleted(1_795_000_000_001, "cnv_1", "usr_1")
    exported = export(meanwhile(state, 9, lambda: append(state, deletion)))
    assert fault_of(exported, tmp_path) is None
    assert exported == export(lambda: open_stored_log(state))


def test_tools_that_are_published_meanwhile_stand_before_the_records(state: Path, tmp_path: Path) -> None:
    snapshot = replace(History().snapshot, id="snp_later", tools=PUBLISHED[:1])
    exported = export(
        meanwhile(state, 5, lambda: append(state, SnapshotIssued(1_795_000_000_000, OPERATOR.id, snapshot, "refresh")))
    )
    assert fault_of(exported, tmp_path) is None
    assert exported == export(lambda: open_stored_log(state))


def test_an_erasure_that_names_what_is_still_there_is_shown_as_it_is(state: Path, tmp_path: Path) -> None:
    named = with_payload(export(lambda: open_stored_log(state)))[0]

    def name_only() -> None:
        database = choose_driver().connect(state / DATABASE)
        salt, payload = database.execute("SELECT salt, payload FROM leaves WHERE position = ?", (named,)).fetchone()
        append(state, RecordsErased(1_795_000_000_000, ErasureReason.RETENTION, (named,)))
        database.execute("UPDATE leaves SET salt = ?, payload = ? WHERE position = ?", (salt, payload, named))
        database.commit()
        database.close()

    fault = fault_of(export(meanwhile(state, 8, name_only)), tmp_path)
    assert fault is not None
    assert f"says that the payload of record {named} was erased, which it was not" in fault.detail


def test_a_log_that_is_put_back_from_a_copy_meanwhile_is_no_part_of_the_file(state: Path) -> None:
    def put_back() -> None:
        with closing(choose_driver().connect(state / DATABASE)) as database:
            database.execute("DELETE FROM checkpoints WHERE size < 20")
            database.commit()

    with pytest.raises(LedgerUnavailable, match="put back from a copy while it was exported; export it again"):
        export(meanwhile(state, 5, put_back))
