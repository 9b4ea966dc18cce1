"""A state directory that lost or changed what was recorded is recognised before anything is written to it."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from gateway.adapters.storage import checks
from gateway.adapters.storage.keys import SECRET
from gateway.adapters.storage.mark import MARK, SLOT_SIZE, MarkFile, read_mark
from gateway.adapters.storage.sqlite import DATABASE, LOG_RESERVE, WAL, choose_driver, open_for_writing
from gateway.adapters.storage.store import Store, open_store
from gateway.adapters.storage.tables import metadata
from gateway.core import ledger as steps
from gateway.core.checkpoint import SigningKey
from gateway.core.errors import GatewayError, LedgerDamaged
from gateway.core.merkle import EMPTY_ROOT
from gateway.core.results import KeptText
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.history import OPERATOR, History
from tests.harness.damage import tear, written_part

PLACES = 16


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state directory of a gateway that died: everything since its start is in the write-ahead log only."""
    home = tmp_path_factory.mktemp("killed")

    async def work() -> None:
        async with open_store(home / "running", origin=ORIGIN) as store:
            for submission in History().whole():
                await store.ledger.append(*submission)
            # A copy of what lies on the disk now is what a kill leaves; closing would tidy it up.
            shutil.copytree(home / "running", home / "state")

    asyncio.run(work())
    return home / "state"


@pytest.fixture
def state(killed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(killed, tmp_path / "state")


async def start(state: Path) -> int:
    """Start and stop; gives the size of the log."""
    async with open_store(state, origin=ORIGIN) as store:
        return await store.records.audit_size()


def files_of(state: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in state.iterdir() if path.name in (DATABASE, WAL, MARK)}


async def expect_damage(state: Path) -> str:
    """What a start is refused with. The files are as they were, to the byte."""
    before = files_of(state)
    with pytest.raises(LedgerDamaged) as refusal:
        await start(state)
    after = files_of(state)
    assert {name: after.get(name) for name in before} == before
    assert "countersign recover" in refusal.value.message
    assert "\n" not in refusal.value.message
    return refusal.value.message


async def test_after_a_kill_everything_acknowledged_is_there(state: Path) -> None:
    assert await start(state) == 34
    assert await start(state) == 34


@pytest.mark.requirement("002-11", "a write-ahead log that lost its end is recognised, wherever it was torn")
@pytest.mark.parametrize("place", range(PLACES))
async def test_a_torn_write_ahead_log_is_recognised_wherever_it_was_torn(state: Path, place: int) -> None:
    wal = state / WAL
    tear(wal, len(written_part(wal)) * (place + 1) // (PLACES + 1))
    told = await expect_damage(state)
    assert "are lost" in told or "has no tables" in told or "is damaged" in told


@pytest.mark.requirement("002-11", "one flipped bit in the write-ahead log is recognised")
@pytest.mark.parametrize("place", range(PLACES))
async def test_a_flipped_bit_of_the_write_ahead_log_is_recognised(state: Path, place: int) -> None:
    wal = state / WAL
    raw = bytearray(written_part(wal))
    raw[len(raw) * (place + 1) // (PLACES + 1)] ^= 1 << place % 8
    wal.write_bytes(raw)
    await expect_damage(state)


async def test_a_write_ahead_log_that_lost_only_what_was_never_written_lost_nothing(state: Path) -> None:
    wal = state / WAL
    written = len(written_part(wal))
    assert wal.stat().st_size == LOG_RESERVE > written
    tear(wal, written)
    assert await start(state) == 34


async def test_a_write_ahead_log_that_is_gone_is_recognised(state: Path) -> None:
    (state / WAL).unlink()
    await expect_damage(state)


async def test_an_older_copy_of_the_database_is_recognised(state: Path, tmp_path: Path) -> None:
    await start(state)
    older = (state / DATABASE).read_bytes()
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(steps.PolicyLoaded(1, "b" * 64))
    (state / DATABASE).write_bytes(older)
    assert "ends after 34 records, and `ledger.mark` says that it had 35: 1 are lost" in await expect_damage(state)


async def test_another_history_of_the_same_length_is_recognised(state: Path) -> None:
    await start(state)
    older = (state / DATABASE).read_bytes()
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(steps.PolicyLoaded(1, "b" * 64))
    mark = (state / MARK).read_bytes()
    (state / DATABASE).write_bytes(older)
    (state / MARK).unlink()
    forget_starts(state)
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(steps.PolicyLoaded(1, "c" * 64))
    (state / MARK).write_bytes(mark)
    assert "the first 35 records are not those of `ledger.mark`" in await expect_damage(state)


@pytest.mark.requirement("002-11", "where the database is gone nobody is offered to enrol as the first person")
@pytest.mark.parametrize("left", [SECRET, MARK])
@pytest.mark.parametrize("emptied", [False, True])
async def test_a_database_that_is_gone_is_not_begun_anew(state: Path, left: str, emptied: bool) -> None:
    for name in (DATABASE, WAL, "ledger.db-shm", *{SECRET, MARK} - {left}):
        (state / name).unlink()
    if emptied:
        (state / DATABASE).touch()
    assert ("is empty" if emptied else "is gone") in await expect_damage(state)
    assert (state / DATABASE).exists() == emptied


async def test_another_database_under_the_same_key_is_recognised(state: Path, tmp_path: Path) -> None:
    await start(state)
    other = tmp_path / "other"
    other.mkdir()
    (other / SECRET).write_bytes((state / SECRET).read_bytes())
    (other / SECRET).chmod(0o600)
    writing = open_for_writing(other / DATABASE)
    checks_tables(writing.connect)
    writing.dispose()
    (state / DATABASE).write_bytes((other / DATABASE).read_bytes())
    told = await expect_damage(state)
    assert "is not the database that `ledger.mark` was written for" in told


def checks_tables(connect: Callable[[], Connection]) -> None:
    """A new database with every table and a name of its own."""
    from gateway.adapters.storage.identity import identify
    from gateway.adapters.storage.migration import migrate

    with connect() as connection, connection.begin():
        migrate(connection)
        identify(connection)


async def test_a_mark_that_is_behind_the_log_is_no_alarm(state: Path) -> None:
    await start(state)
    mark = (state / MARK).read_bytes()
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(steps.PolicyLoaded(1, "b" * 64))
    (state / MARK).write_bytes(mark)
    assert await start(state) == 35


async def test_a_mark_that_is_gone_is_noticed(state: Path) -> None:
    (state / MARK).unlink()
    assert "`ledger.mark` is gone" in await expect_damage(state)


async def test_a_log_from_before_there_were_marks_gets_one(state: Path) -> None:
    (state / MARK).unlink()
    forget_starts(state)
    assert await start(state) == 34
    assert (state / MARK).exists()


def forget_starts(state: Path) -> None:
    writing = open_for_writing(state / DATABASE)
    with writing.begin() as connection:
        connection.execute(text("UPDATE identity SET epoch = 0"))
    writing.dispose()


async def test_a_mark_with_one_slot_torn_by_a_power_failure_still_counts(state: Path, tmp_path: Path) -> None:
    raw = bytearray((state / MARK).read_bytes())
    torn = bytes(raw[100:])
    (state / MARK).write_bytes(bytes(raw[:SLOT_SIZE]) + b"half of a mark")
    assert await start(state) == 34
    (state / MARK).write_bytes(torn)
    assert "is damaged or was signed by another key" in await expect_damage(state)


def test_a_mark_is_written_in_turn_to_two_places_of_which_one_is_always_on_the_disk(tmp_path: Path) -> None:
    key = SigningKey(ORIGIN, bytes(32))
    mark = MarkFile(tmp_path, key, "db", key.sign(0, EMPTY_ROOT))
    for size in range(1, 6):
        mark.write(key.sign(size, bytes(32)))
        mark.sync()
        before = (tmp_path / MARK).read_bytes()
        # The next one is torn: nothing of the one before is touched by it.
        mark.write("x" * 100)
        found = read_mark(tmp_path, (key.verification_key,))
        assert found is not None
        assert found.checkpoint.size == size
        (tmp_path / MARK).write_bytes(before)
    mark.close()


def test_a_mark_of_another_key_counts_for_nothing(tmp_path: Path) -> None:
    key, other = SigningKey(ORIGIN, bytes(32)), SigningKey(ORIGIN, bytes(31) + b"x")
    MarkFile(tmp_path, other, "db", key.sign(0, EMPTY_ROOT)).close()
    with pytest.raises(LedgerDamaged, match="another key"):
        read_mark(tmp_path, (key.verification_key,))
    MarkFile(tmp_path, key, "db", other.sign(0, EMPTY_ROOT)).close()
    with pytest.raises(LedgerDamaged, match="another key"):
        read_mark(tmp_path, (key.verification_key,))


# ── pages and rows ──


def spoil_index(state: Path) -> None:
    """Make the root page of an index that no start reads into nonsense."""
    driver = choose_driver()
    connection = driver.connect(state / DATABASE)
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'ix_passkeys_user_handle'"
    ((page,),) = connection.execute(query).fetchall()
    connection.close()
    with (state / DATABASE).open("r+b") as file:
        file.seek((page - 1) * 4_096)
        file.write(b"\x0a\xff\xff\xff\xff")


async def test_a_damaged_page_keeps_a_gateway_from_starting(state: Path) -> None:
    await start(state)
    spoil_index(state)
    assert "`ledger.db` is damaged" in await expect_damage(state)


async def test_a_damaged_page_of_a_large_database_stops_the_writer_as_soon_as_it_is_found(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start(state)
    spoil_index(state)
    monkeypatch.setattr(checks, "LARGEST_CHECKED_AT_ONCE", 0)
    async with open_store(state, origin=ORIGIN) as store, asyncio.timeout(60):
        with pytest.raises(LedgerDamaged, match="is damaged"):
            await record_until_refused(store)


async def record_until_refused(store: Store) -> None:
    while True:
        await store.ledger.append(steps.PolicyLoaded(1, "b" * 64))


def edit(state: Path, change: str) -> None:
    writing = open_for_writing(state / DATABASE)
    with writing.begin() as connection:
        connection.execute(text(change))
    writing.dispose()


@pytest.mark.requirement("002-11", "a stored result that was changed is not answered as a result")
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE leaves SET payload = CAST(replace(CAST(payload AS TEXT), 'ok', 'OK') AS BLOB)",
        "UPDATE leaves SET payload = CAST(substr(CAST(payload AS TEXT), 2) AS BLOB)",
        "UPDATE leaves SET payload = x'7b7d'",
        "UPDATE leaves SET payload = x'ff'",
        "UPDATE leaves SET salt = x'00'",
        "UPDATE leaves SET salt = NULL",
    ],
)
async def test_a_payload_that_is_not_the_recorded_one_is_never_read_as_a_result(state: Path, change: str) -> None:
    edit(state, f"{change} WHERE position = (SELECT closing_leaf FROM calls WHERE call_id = 'call-read')")
    async with open_store(state, origin=ORIGIN) as store:
        with pytest.raises(LedgerDamaged, match="the stored call `cnv_1/call-read` is damaged"):
            await store.records.call("cnv_1", "call-read")
        with pytest.raises(LedgerDamaged, match="the stored call `cnv_1/call-read` is damaged"):
            await store.records.calls("cnv_1")


async def keep_long_result(state: Path) -> tuple[str, str, str]:
    """What it takes to read it."""
    history = History()
    async with open_store(state, origin=ORIGIN) as store:
        request = history.request("call-long")
        kept = KeptText("res_1", b"a long text", 5, ())
        result = replace(history.result("call-long"), kept=kept.reference, truncated=True)
        await store.ledger.append(history.intend(request), replace(history.close(request, result), kept=kept))
    return (OPERATOR.id, history.conversation_id, kept.id)


async def test_a_long_result_that_was_changed_is_never_read(state: Path) -> None:
    place = await keep_long_result(state)
    edit(state, "UPDATE kept_results SET content = CAST('another txt' AS BLOB)")
    async with open_store(state, origin=ORIGIN) as store:
        with pytest.raises(LedgerDamaged, match="the stored result `cnv_1/call-long` is damaged"):
            await store.records.kept_result(*place)


async def test_a_long_result_goes_with_the_payload_of_its_call(state: Path) -> None:
    place = await keep_long_result(state)
    edit(
        state,
        "UPDATE leaves SET salt = NULL, payload = NULL"
        " WHERE position = (SELECT closing_leaf FROM calls WHERE call_id = 'call-long')",
    )
    async with open_store(state, origin=ORIGIN) as store:
        assert await store.records.kept_result(*place) is None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("UPDATE calls SET state = 'ended' WHERE call_id = 'call-read'", "call `cnv_1/call-read`"),
        ("UPDATE approvals SET statement = x'00' WHERE id = 'apr_write'", "approval `apr_write`"),
        ("UPDATE approvals SET needs = '[' WHERE id = 'apr_write'", "approval `apr_write`"),
        ("UPDATE approvals SET request = '7', status = 'pending'", "approval `apr_write`"),
        ("UPDATE grants SET scope = 'ever', revoked_at = NULL", "grant `grt_"),
        ("UPDATE messages SET role = 'nobody'", "message `cnv_1/0`"),
        ("UPDATE messages SET tool_calls = '{'", "message `cnv_1/0`"),
        ("UPDATE principals SET profile = 'owner'", "person `"),
        ("UPDATE passkeys SET transports = 'usb'", "passkey `"),
    ],
)
async def test_a_row_that_nobody_wrote_is_named_and_never_a_traceback(state: Path, change: str, named: str) -> None:
    edit(state, change)
    async with open_store(state, origin=ORIGIN) as store:
        with pytest.raises(LedgerDamaged) as refusal:
            await read_everything(store)
    assert f"the stored {named}" in refusal.value.message


async def read_everything(store: Store) -> None:
    """Every way in which a gateway reads back."""
    records = store.records
    await records.open_approvals()
    await records.approvals(OPERATOR.id, limit=100)
    await records.grants_of(OPERATOR.id)
    await records.grants("ses_1")
    for conversation in await records.conversations(OPERATOR.id, before=None, limit=100):
        await records.messages(conversation.id)
        for call in await records.calls(conversation.id):
            await records.call(conversation.id, call.call_id)
            await records.call_digest(conversation.id, call.call_id)
        await records.turn_indices(conversation.id)
    await records.unfinished_turns()
    await records.unfinished_calls()
    await records.principals()
    await records.passkeys(OPERATOR.id)
    await records.session("ses_1")


@pytest.mark.requirement("002-11", "a flipped bit anywhere in the database is a refusal, or changes nothing that is read")
@pytest.mark.parametrize("table", sorted(metadata.tables))
async def test_flipped_bits_in_a_table_are_no_traceback(killed: Path, tmp_path: Path, table: str) -> None:
    whole = shutil.copytree(killed, tmp_path / "whole")
    await start(whole)
    connection = choose_driver().connect(whole / DATABASE)
    ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    connection.close()
    chance = random.Random(table)
    for number in range(6):
        state = shutil.copytree(whole, tmp_path / str(number))
        with (state / DATABASE).open("r+b") as file:
            # Rows fill a page from its end, its header and their places stand at its beginning.
            at = (page - 1) * 4_096 + (chance.randrange(24) if number % 3 == 0 else 4_095 - chance.randrange(600))
            file.seek(at)
            (byte,) = file.read(1)
            file.seek(at)
            file.write(bytes((byte ^ 1 << chance.randrange(8),)))
        try:
            async with open_store(state, origin=ORIGIN) as store:
                await read_everything(store)
        except GatewayError:
            # Any other error would fail the test.
            continue
