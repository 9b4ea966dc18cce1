"""`countersign backup`, `restore` and `recover`, as an operator types them."""

from __future__ import annotations

import asyncio
import shutil
import stat
import tarfile
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text

from gateway.adapters.storage.checking import verify_stored_log
from gateway.adapters.storage.erasure_journal import JOURNAL
from gateway.adapters.storage.keys import SECRET
from gateway.adapters.storage.mark import MARK
from gateway.adapters.storage.sqlite import DATABASE, WAL, open_for_writing
from gateway.adapters.storage.store import Store, open_store
from gateway.cli import countersign
from gateway.core import ledger as steps
from gateway.core.errors import GatewayError, LedgerDamaged, LedgerLocked, Misconfigured
from gateway.core.verification import LogReport
from gateway.runtime.ports import AuditQuery, AuditRow
from tests.fakes.history import OPERATOR, History
from tests.harness.damage import tear, written_part

ORIGIN = "gateway.example/audit"


def countersigned(*arguments: str | Path, given: str | None = None) -> Result:
    return CliRunner().invoke(countersign, [*map(str, arguments)], input=given)


def failing(*arguments: str | Path) -> GatewayError:
    """The error of a command that fails, which `main` prints as one line with exit code 2."""
    result = countersigned(*arguments)
    assert isinstance(result.exception, GatewayError), result.output
    return result.exception


async def record(store: Store, count: int = 1) -> None:
    for _ in range(count):
        await store.ledger.append(steps.PolicyLoaded(1_795_000_000_000, "b" * 64))


@pytest.fixture
async def state(tmp_path: Path) -> Path:
    directory = tmp_path / "state"
    async with open_store(directory, origin=ORIGIN) as store:
        for submission in History().whole():
            await store.ledger.append(*submission)
    return directory


def kept_in(folder: Path, pattern: str) -> list[Path]:
    return [*folder.glob(pattern)]


def sound(state: Path) -> LogReport:
    report = verify_stored_log(state)
    assert report.fault is None
    return report


async def newest_losses(state: Path) -> list[AuditRow]:
    async with open_store(state, origin=ORIGIN) as store:
        return [*await store.records.audit(AuditQuery(event="records:lost", limit=10))]


# ── backup and restore ──


def test_a_backup_replaces_an_earlier_one_and_an_empty_file_and_nothing_else(state: Path, tmp_path: Path) -> None:
    file, mine, archive = tmp_path / "kept.backup", tmp_path / "thesis.txt", tmp_path / "mine.tar"
    file.touch()
    for _ in range(2):
        assert countersigned("backup", file, "--state", state).exit_code == 0
    mine.write_text("years of work")
    with tarfile.open(archive, "w") as written:
        written.add(mine, "thesis.txt")
    kept = archive.read_bytes()
    for other in (mine, archive, state / DATABASE, state / SECRET, Path("/dev/null")):
        assert failing("backup", other, "--state", state).message.startswith(f"`{other}` is there already and is no backup")
    assert (mine.read_text(), archive.read_bytes()) == ("years of work", kept)
    assert sound(state).size


def test_what_is_no_backup_is_said_before_anybody_is_asked_to_have_the_record_replaced(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "thesis.txt"
    file.write_text("years of work")
    result = countersigned("restore", file, "--state", state, given="y\n")
    assert isinstance(result.exception, Misconfigured)
    assert "is no backup that `countersign backup` made" in result.exception.message
    assert "Replace" not in result.output


async def test_a_question_that_nobody_answers_names_the_option_and_a_no_says_that_nothing_was_changed(
    state: Path, tmp_path: Path
) -> None:
    file = tmp_path / "kept.backup"
    assert countersigned("backup", file, "--state", state).exit_code == 0
    for command in (("restore", file), ("audit", "rotate-key"), ("audit", "erase", "--call", "call-write")):
        assert "`--yes` answers it" in failing(*command, "--state", state).message
        refused = countersigned(*command, "--state", state, given="n\n")
        assert (refused.exit_code, refused.output.rstrip().endswith("Nothing was changed.")) == (1, True)
    assert sound(state).size


@pytest.mark.requirement("002-11", "a backup made beside a gateway that writes is whole, and restores to what it held")
async def test_a_backup_of_a_running_gateway_restores_to_what_it_held(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.backup"
    async with open_store(state, origin=ORIGIN) as store, asyncio.timeout(120):
        stop = asyncio.Event()

        async def go_on() -> None:
            while not stop.is_set():
                await record(store)

        writing = asyncio.create_task(go_on())
        result = await asyncio.to_thread(countersigned, "backup", file, "--state", state)
        stop.set()
        await writing
        assert result.exit_code == 0, result.output
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    held = int(result.output.split(" records, ")[0].rsplit(" ", 1)[1])
    assert held >= 34
    fresh = tmp_path / "fresh"
    # Where there is no record there is none to replace, and nothing to ask.
    result = countersigned("restore", file, "--state", fresh)
    assert result.exit_code == 0, result.output
    assert "Replace" not in result.output
    assert f"Restored {held} records." in result.output
    # One leaf for the loss that nobody can count, since no mark came with the backup, and one for each session that ended.
    assert sound(fresh).size > held
    (loss,) = await newest_losses(fresh)
    assert (loss.index, loss.body["reason"], loss.body["until"]) == (held, "unmarked", None)
    async with open_store(fresh, origin=ORIGIN) as store:
        assert await store.records.principals() == (OPERATOR,)


@pytest.mark.requirement("002-11", "restoring an older backup puts on record which records are lost")
async def test_restoring_an_older_backup_says_what_is_lost_and_puts_it_on_record(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.backup"
    assert countersigned("backup", file, "--state", state).exit_code == 0
    async with open_store(state, origin=ORIGIN) as store:
        await record(store, 6)
        root = (await store.records.checkpoint() or "").split("\n")[2]
    result = countersigned("restore", file, "--state", state, "--yes")
    assert result.exit_code == 0, result.output
    assert "Records 34 to 39 are lost (6 of them)" in result.output
    assert "This is on record as number 34." in result.output
    (aside,) = kept_in(state, "replaced-*")
    assert {path.name for path in aside.iterdir()} >= {DATABASE, MARK}
    sound(state)
    (loss,) = await newest_losses(state)
    assert (loss.body["reason"], loss.body["until"]) == ("shorter", 40)
    assert bytes.fromhex(str(loss.body["root"])) == b64decode(root)


async def test_restoring_what_is_there_already_loses_nothing_and_records_nothing(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.backup"
    countersigned("backup", file, "--state", state)
    result = countersigned("restore", file, "--state", state, "--yes")
    assert result.exit_code == 0, result.output
    assert "lost" not in result.output
    assert sound(state).size == 34
    assert await newest_losses(state) == []


async def test_a_database_put_back_by_hand_needs_a_recovery(state: Path) -> None:
    older = (state / DATABASE).read_bytes()
    async with open_store(state, origin=ORIGIN) as store:
        await record(store)
    (state / DATABASE).write_bytes(older)
    with pytest.raises(LedgerDamaged, match="1 are lost"):
        async with open_store(state, origin=ORIGIN):
            pass
    assert countersigned("recover", "--state", state, "--yes").exit_code == 0
    (loss,) = await newest_losses(state)
    assert (loss.index, loss.body["until"]) == (34, 35)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:20_000])


def turn_bits(file: Path) -> None:
    raw = bytearray(file.read_bytes())
    place = raw.index(b'"event":"call:intended"')
    raw[place + 10] ^= 1
    file.write_bytes(raw)


def replace_by_text(file: Path) -> None:
    file.write_text("not a backup")


def replace_by_other_archive(file: Path) -> None:
    with tarfile.open(file, "w") as archive:
        archive.add(__file__, "ledger.db")


@pytest.mark.requirement("002-11", "a backup that is not whole changes nothing")
@pytest.mark.parametrize("spoil", [cut, turn_bits, replace_by_text, replace_by_other_archive])
async def test_a_backup_that_is_not_whole_is_refused_and_nothing_is_changed(
    state: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    file = tmp_path / "kept.backup"
    countersigned("backup", file, "--state", state)
    spoil(file)
    before = {path.name: path.read_bytes() for path in (state / DATABASE, state / MARK, state / SECRET)}
    assert isinstance(failing("restore", file, "--state", state, "--yes"), Misconfigured | LedgerDamaged)
    assert {name: (state / name).read_bytes() for name in before} == before
    assert not kept_in(state, "replaced-*") + kept_in(state, ".countersign-*")


async def test_a_backup_of_another_log_is_refused(state: Path, tmp_path: Path) -> None:
    async with open_store(tmp_path / "other", origin=ORIGIN) as store:
        await record(store)
    file = tmp_path / "kept.backup"
    countersigned("backup", file, "--state", tmp_path / "other")
    assert "whose key is not the one" in failing("restore", file, "--state", state, "--yes").message


async def test_nothing_is_restored_or_recovered_under_a_running_gateway(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.backup"
    countersigned("backup", file, "--state", state)
    async with open_store(state, origin=ORIGIN):
        for command in (("restore", file), ("recover",)):
            error = await asyncio.to_thread(failing, *command, "--state", state, "--yes")
            assert isinstance(error, LedgerLocked)


async def test_a_damaged_record_is_not_backed_up_as_if_it_were_whole(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.backup"
    assert countersigned("backup", file, "--state", state).exit_code == 0
    good = file.read_bytes()
    edit(state, "UPDATE leaves SET payload = x'7b7d' WHERE position = 8")
    assert "is not sound: the payload of record 8 was changed" in failing("backup", file, "--state", state).message
    assert file.read_bytes() == good
    assert not kept_in(tmp_path, ".countersign-*")


def edit(state: Path, change: str) -> None:
    writing = open_for_writing(state / DATABASE)
    with writing.begin() as connection:
        connection.execute(text(change))
    writing.dispose()


# ── recovery ──


async def kill_and_tear(state: Path) -> Path:
    """The state folder of a gateway that was killed and lost a part of its write-ahead log."""
    running = state.with_name("torn")
    async with open_store(state, origin=ORIGIN) as store:
        await record(store, 20)
        shutil.copytree(state, running)
    tear(running / WAL, len(written_part(running / WAL)) // 2)
    return running


@pytest.mark.requirement("002-11", "a recovery says what is lost, keeps the damaged files and puts the loss on record")
async def test_a_recovery_says_what_is_lost_keeps_the_files_and_puts_the_loss_on_record(state: Path) -> None:
    torn = await kill_and_tear(state)
    damaged = {name: (torn / name).read_bytes() for name in (DATABASE, WAL, MARK)}
    refused = countersigned("recover", "--state", torn, given="n\n")
    assert (refused.exit_code, kept_in(torn, "damaged-*") == []) == (1, True)
    assert {name: (torn / name).read_bytes() for name in damaged} == damaged
    result = countersigned("recover", "--state", torn, given="y\n")
    assert result.exit_code == 0, result.output
    kept = int(result.output.split(" records are left")[0])
    assert 34 <= kept < 54
    assert f"Records {kept} to 53 are lost ({54 - kept} of them)" in result.output
    (aside,) = kept_in(torn, "damaged-*")
    assert {name: (aside / name).read_bytes() for name in damaged} == damaged
    sound(torn)
    (loss,) = await newest_losses(torn)
    assert (loss.index, loss.body["reason"], loss.body["until"]) == (kept, "shorter", 54)
    # Whatever ended sessions may be lost, so they all end; people and passkeys stay.
    async with open_store(torn, origin=ORIGIN) as store:
        assert await store.records.session("ses_1") is None
        assert await store.records.principals() == (OPERATOR,)
        assert await store.records.passkeys(OPERATOR.id)
    assert "nothing to recover" in countersigned("recover", "--state", torn).output


@pytest.mark.parametrize("emptied", [False, True])
async def test_a_database_that_is_gone_is_begun_anew_only_by_a_recovery_and_says_so_first(state: Path, emptied: bool) -> None:
    (state / DATABASE).unlink()
    if emptied:
        (state / DATABASE).touch()
    result = countersigned("recover", "--state", state, "--yes")
    assert result.exit_code == 0, result.output
    assert "Records 0 to 33 are lost (34 of them)" in result.output
    assert sound(state).size == 1
    (loss,) = await newest_losses(state)
    assert (loss.index, loss.body["reason"], loss.body["until"]) == (0, "absent", 34)


async def test_a_database_that_cannot_be_read_is_given_up_only_when_asked(state: Path) -> None:
    raw = bytearray((state / DATABASE).read_bytes())
    raw[4_096:12_288] = bytes(8_192)
    (state / DATABASE).write_bytes(raw)
    assert isinstance(failing("recover", "--state", state, "--yes"), LedgerDamaged)
    result = countersigned("recover", "--state", state, "--yes", "--discard")
    assert result.exit_code == 0, result.output
    (aside,) = kept_in(state, "damaged-*")
    assert (aside / DATABASE).read_bytes() == raw
    assert sound(state).size == 1


async def test_changed_payloads_are_erased_by_a_recovery_and_the_gateway_goes_on(state: Path) -> None:
    edit(state, "UPDATE leaves SET payload = x'7b7d' WHERE position IN (8, 12)")
    result = countersigned("recover", "--state", state, "--yes")
    assert result.exit_code == 0, result.output
    assert "The payloads of 2 records were changed and will be erased: 8, 12." in result.output
    assert sound(state).erased == 2
    (loss,) = await newest_losses(state)
    assert (loss.body["reason"], loss.body["erased"]) == ("changed", 2)


async def test_without_its_key_a_log_is_not_continued(state: Path) -> None:
    (state / SECRET).unlink()
    assert "there is no `audit.key`" in failing("recover", "--state", state, "--yes").message


def test_where_there_is_no_state_folder_nothing_is_made(tmp_path: Path) -> None:
    assert "there is no state folder" in failing("recover", "--state", tmp_path / "none", "--yes").message
    assert "there is no `ledger.db`" in failing("backup", tmp_path / "b", "--state", tmp_path / "none").message
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", ["backup", "restore", "recover"])
def test_help_says_what_is_kept_and_what_is_lost(command: str) -> None:
    told = " ".join(countersigned(command, "--help").output.split())
    assert {"backup": "Whoever has it can read", "restore": "must not", "recover": "every session ends"}[command] in told


# ── erasures ──


@pytest.mark.requirement("002-11", "an older copy of the database does not bring back what was erased since")
@pytest.mark.parametrize("way", ["restore", "a copy put back by hand", "restore elsewhere"])
async def test_what_was_erased_since_does_not_come_back(state: Path, tmp_path: Path, way: str) -> None:
    file, copy = tmp_path / "kept.backup", tmp_path / "copied"
    shutil.copytree(state, copy)
    assert countersigned("backup", file, "--state", state).exit_code == 0
    async with open_store(state, origin=ORIGIN) as store:
        call = steps.CallSubject("cnv_1", "call-write")
        plan = await store.records.plan_erasure(call, steps.ErasureReason.REQUESTED, 1_795_000_000_000)
        await store.ledger.append(*plan)
        erased = [*plan[0].records] if isinstance(plan[0], steps.RecordsErased) else []
        assert erased
    assert sound(state).erased == len(erased)
    if way == "restore":
        result = countersigned("restore", file, "--state", state, "--yes")
    elif way == "a copy put back by hand":
        for name in (DATABASE, WAL):
            (state / name).unlink(missing_ok=True)
        shutil.copy(copy / DATABASE, state / DATABASE)
        result = countersigned("recover", "--state", state, "--yes")
    else:
        # An older backup on another machine, with the journal of a newer one.
        assert countersigned("backup", tmp_path / "newer.backup", "--state", state).exit_code == 0
        shutil.rmtree(state)
        assert countersigned("restore", tmp_path / "newer.backup", "--state", state, "--yes").exit_code == 0
        result = countersigned("restore", file, "--state", state, "--yes")
    assert result.exit_code == 0, result.output
    assert sound(state).erased == len(erased)
    async with open_store(state, origin=ORIGIN) as store:
        (again,) = await store.records.audit(AuditQuery(event="records:erased", limit=10))
        assert (again.body["reason"], again.body["records"]) == ("restored", erased)
        record = await store.records.call("cnv_1", "call-write")
        assert record is not None
        assert (record.arguments, record.result) == ({}, None)


async def test_a_journal_that_somebody_wrote_into_stops_a_restore(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.backup"
    assert countersigned("backup", file, "--state", state).exit_code == 0
    async with open_store(state, origin=ORIGIN) as store:
        await record(store)
    (state / JOURNAL).write_text('"countersign erasure v1\\n{\\"personId\\":\\"prn_1\\"}\\n\\n— x y\\n"\n')
    error = failing("restore", file, "--state", state, "--yes")
    assert isinstance(error, LedgerDamaged)
    assert "line 1 of `ledger.erasures`" in error.message
    # A line that never reached the disk whole names nothing: its erasure did not happen.
    (state / JOURNAL).write_text('"countersign eras')
    assert countersigned("recover", "--state", state, "--yes").exit_code == 0
    assert sound(state).erased == 0
