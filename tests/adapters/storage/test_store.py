"""The state directory: one writer, a key of its own, and no start on a log that does not add up."""

from __future__ import annotations

import asyncio
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from sqlalchemy import Connection, text

from gateway.adapters.storage import sqlite
from gateway.adapters.storage.checking import verify_stored_log
from gateway.adapters.storage.keys import PUBLIC, SECRET
from gateway.adapters.storage.sqlite import DATABASE, open_for_reading, open_for_writing
from gateway.adapters.storage.store import open_store
from gateway.core import ledger as steps
from gateway.core.errors import GatewayError, IllegalStep, LedgerDamaged, LedgerLocked, LedgerUnavailable, Misconfigured
from gateway.core.model import PublishedTool
from gateway.core.vocabulary import Decision, PermissionMode
from tests.adapters.storage.conftest import ORIGIN
from tests.fakes.history import OPERATOR, WRITE, History
from tests.harness.record_texts import UNPACK


@pytest.fixture
async def state(tmp_path: Path) -> Path:
    """A state directory with a whole history, closed."""
    directory = tmp_path / "state"
    async with open_store(directory, origin=ORIGIN) as store:
        for submission in History().whole():
            await store.ledger.append(*submission)
    return directory


def edit(state: Path, change: Callable[[Connection], object]) -> None:
    """What someone with the file and an SQLite shell can do."""
    writing = open_for_writing(state / DATABASE)
    with writing.begin() as connection:
        connection.execute(text(UNPACK))
        change(connection)
    writing.dispose()


async def refused(state: Path) -> str:
    with pytest.raises((Misconfigured, LedgerDamaged)) as refusal:
        async with open_store(state, origin=ORIGIN):
            pass
    assert isinstance(refusal.value, GatewayError)
    return refusal.value.message


async def test_a_second_writer_is_refused_while_the_first_lives(state: Path) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        with pytest.raises(LedgerLocked):
            async with open_store(state, origin=ORIGIN):
                pass
        assert await store.records.ready()
    async with open_store(state, origin=ORIGIN) as store:
        assert await store.records.ready()


async def test_another_process_is_refused_too_and_leaves_nothing_behind(state: Path) -> None:
    script = (
        "import asyncio, pathlib, sys\n"
        "from gateway.adapters.storage.store import open_store\n"
        "from gateway.core.errors import IllegalStep, LedgerLocked\n"
        "async def main():\n"
        "    try:\n"
        "        async with open_store(pathlib.Path(sys.argv[1]), origin='x'):\n"
        "            print('opened')\n"
        "    except LedgerLocked as refusal:\n"
        "        print(refusal.code)\n"
        "asyncio.run(main())\n"
    )
    async with open_store(state, origin=ORIGIN), asyncio.timeout(60):
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, str(state), stdout=asyncio.subprocess.PIPE, env={"PYTHONPATH": "."}
        )
        told, _ = await other.communicate()
    assert told.decode().strip() == "ledger_locked"


async def test_what_was_recorded_is_there_after_a_restart(state: Path) -> None:
    async with open_store(state, origin="another.example/audit") as store:
        size = await store.records.audit_size()
        (index,) = await store.ledger.append(steps.PolicyLoaded(1, "b" * 64))
        assert index == size
        # The name of the log is the name in its key; it does not change with a setting.
        assert store.verification_key.name == ORIGIN
        assert await store.records.principals() == (OPERATOR,)


def test_database_and_key_are_their_owners_only(state: Path) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in state.iterdir()}
    assert modes[DATABASE] == modes[SECRET] == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert modes[PUBLIC] == 0o644


async def test_a_key_that_others_can_read_is_not_used(state: Path) -> None:
    (state / SECRET).chmod(0o640)
    assert "chmod 600" in await refused(state)


async def test_a_lost_key_is_never_replaced_by_a_new_one(state: Path) -> None:
    (state / SECRET).unlink()
    assert "key `audit.key` is gone" in await refused(state)
    assert not (state / SECRET).exists()


async def test_a_damaged_key_is_refused_without_being_shown(state: Path) -> None:
    secret = (state / SECRET).read_text()
    (state / SECRET).write_text(secret[:-9])
    assert secret[40:60] not in await refused(state)


async def test_a_lost_verification_key_is_written_again(state: Path) -> None:
    line = (state / PUBLIC).read_text()
    (state / PUBLIC).unlink()
    async with open_store(state, origin=ORIGIN):
        assert (state / PUBLIC).read_text() == line


async def test_a_key_of_another_log_is_noticed(state: Path, tmp_path: Path) -> None:
    async with open_store(tmp_path / "other", origin=ORIGIN):
        pass
    (state / SECRET).write_bytes((tmp_path / "other" / SECRET).read_bytes())
    assert "this key did not sign it" in await refused(state)


@pytest.mark.requirement("002-11", "a log that was edited is not written on")
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "UPDATE leaves SET body = replace(body, 'auto', 'consented') WHERE position = 8",
            "record 8 of the audit log was changed",
        ),
        ("DELETE FROM leaves WHERE position = 12", "record 12 of the audit log is missing"),
        ("DELETE FROM leaves WHERE position = 33", "has 33 records where its last checkpoint signed 34"),
        ("DELETE FROM leaves", "has 0 records where its last checkpoint signed 34"),
        ("DELETE FROM checkpoints", "has 34 records and no checkpoint"),
        ("DELETE FROM checkpoints WHERE size = 34", "has 34 records where its last checkpoint signed 33"),
        # The line of the size: the same digits may stand in a root or a signature too.
        ("UPDATE checkpoints SET note = replace(note, '\n34\n', '\n35\n') WHERE size = 34", "signature does not verify"),
        ("UPDATE checkpoints SET note = 'x' WHERE size = 34", "proves nothing"),
        ("INSERT INTO leaves SELECT 34, hash, body, salt, payload FROM leaves WHERE position = 3", "has 35 records"),
    ],
)
async def test_an_edited_log_is_not_continued(state: Path, change: str, told: str) -> None:
    edit(state, lambda connection: connection.execute(text(change)))
    assert told in await refused(state)


async def test_a_leaf_edited_together_with_its_hash_is_not_continued(state: Path) -> None:
    def swap(connection: Connection) -> None:
        connection.execute(
            text("UPDATE leaves SET (hash, body) = (SELECT hash, body FROM leaves WHERE position = 3) WHERE position = 8")
        )

    edit(state, swap)
    assert "is not what its last checkpoint signed" in await refused(state)


async def test_a_used_approval_stays_used_though_its_call_was_made_to_look_as_if_it_waited(state: Path) -> None:
    history = History()
    history.whole()
    edit(state, lambda connection: connection.execute(text("UPDATE calls SET state = 'awaitingApproval'")))
    async with open_store(state, origin=ORIGIN) as store:
        call = await store.records.call("cnv_1", "call-write")
        assert call is not None
        request = replace(history.request("call-write", WRITE), digest=call.request_digest)
        with pytest.raises(IllegalStep, match="approval cannot be used"):
            await store.ledger.append(history.intend(request, Decision.CONSENTED, approval_id="apr_write"))


async def test_an_erased_payload_is_no_damage(state: Path) -> None:
    edit(state, lambda connection: connection.execute(text("UPDATE leaves SET salt = NULL, payload = NULL")))
    async with open_store(state, origin=ORIGIN) as store:
        record = await store.records.call("cnv_1", "call-read")
        assert record is not None
        assert (record.arguments, record.result) == ({}, None)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"not a database, but long enough to have a header of its own" * 40)
    assert "damaged or no database" in await refused(tmp_path)


async def test_a_database_of_a_newer_version_is_refused(state: Path) -> None:
    edit(state, lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    assert "newer version" in await refused(state)


async def test_a_database_that_another_process_locks_is_said_so(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 20)
    blocker = open_for_writing(state / DATABASE)
    with blocker.begin(), pytest.raises(LedgerUnavailable, match="locked"):
        async with open_store(state, origin=ORIGIN):
            pass
    blocker.dispose()


async def test_a_directory_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerUnavailable):
        async with open_store(tmp_path / "file" / "state", origin=ORIGIN):
            pass


async def test_readers_cannot_write(state: Path) -> None:
    reading = open_for_reading(state / DATABASE)
    with reading.connect() as connection, pytest.raises(Exception, match="readonly"):
        connection.execute(text("DELETE FROM leaves"))
    reading.dispose()


async def test_every_commit_reaches_the_disk_and_every_transaction_begins_with_the_lock(state: Path) -> None:
    writing = open_for_writing(state / DATABASE)
    with writing.begin() as connection:
        pragma = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "synchronous", "foreign_keys")
        }
        assert pragma == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
        other = open_for_writing(state / DATABASE)
        with other.connect() as second:
            # Past SQLAlchemy, which would begin first.
            second.connection.cursor().execute("PRAGMA busy_timeout = 1")
            with pytest.raises(Exception, match="locked"):
                second.begin()
        other.dispose()
    writing.dispose()


def test_a_sqlite_with_the_wal_reset_bug_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    old = ModuleType("old")
    old.__dict__.update(sqlite_version="3.40.1", sqlite_version_info=(3, 40, 1))

    def import_old(_name: str) -> ModuleType:
        return old

    monkeypatch.setattr(sqlite, "import_module", import_old)
    with pytest.raises(Misconfigured, match=r"3\.40\.1"):
        sqlite.choose_driver()


def test_without_the_wheel_pythons_own_sqlite_serves_if_it_is_new_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    new = ModuleType("new")
    new.__dict__.update(sqlite_version="3.53.0", sqlite_version_info=(3, 53, 0))

    def import_without_wheel(name: str) -> ModuleType:
        if name.startswith("pysqlite3"):
            raise ImportError(name)
        return new

    monkeypatch.setattr(sqlite, "import_module", import_without_wheel)
    assert sqlite.choose_driver() is new


async def test_the_log_is_checked_whole_beside_a_gateway_that_writes_it(state: Path) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(steps.PolicyLoaded(1, "b" * 64))
        report = await asyncio.to_thread(verify_stored_log, state)
        assert (report.fault, report.size, report.newest_note) == (None, 35, await store.records.checkpoint())
    edit(state, lambda connection: connection.execute(text("UPDATE leaves SET payload = x'7b7d' WHERE position = 8")))
    fault = verify_stored_log(state).fault
    assert fault is not None
    assert fault.detail == "the payload of record 8 was changed"


def stored_definitions(state: Path) -> set[str]:
    reading = open_for_reading(state / DATABASE)
    with reading.connect() as connection:
        found = {row.digest for row in connection.execute(text("SELECT digest FROM descriptors"))}
    reading.dispose()
    return found


async def test_definitions_that_went_down_with_a_refused_turn_are_stored_with_the_next_one(tmp_path: Path) -> None:
    history, state = History(), tmp_path / "state"
    *before, begun = history.beginning()
    lost = steps.TurnBegun(history.tick(), OPERATOR.id, replace(history.snapshot, conversation_id="cnv_gone"), None)
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(*before)
        with pytest.raises(IllegalStep):
            await store.ledger.append(lost)
        assert stored_definitions(state) == set()
        await store.ledger.append(begun)
        assert stored_definitions(state) == {tool.spec.digest for tool in history.snapshot.tools}


async def test_a_definition_that_comes_later_is_stored_beside_those_that_are_known(tmp_path: Path) -> None:
    history, state = History(), tmp_path / "state"
    renamed = PublishedTool(replace(WRITE, description="Writes differently."), PermissionMode.CONSENT)
    async with open_store(state, origin=ORIGIN) as store:
        await store.ledger.append(*history.beginning())
        again = replace(history.snapshot, id="snp_again", tools=(*history.snapshot.tools, renamed))
        await store.ledger.append(steps.SnapshotIssued(history.tick(), OPERATOR.id, again, "refresh"))
        assert stored_definitions(state) == {tool.spec.digest for tool in again.tools}
    assert verify_stored_log(state).fault is None
