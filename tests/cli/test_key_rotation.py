"""`countersign audit rotate-key`: another key for the log, and everything that an earlier one signed still holds."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import sqlite3
from pathlib import Path

import pytest

from gateway.adapters.storage import rotation
from gateway.adapters.storage.erasure_journal import note_erasures
from gateway.adapters.storage.holding import hold_state
from gateway.adapters.storage.keys import NEXT, PUBLIC, ROTATIONS, SECRET, load_or_make_key, write_once
from gateway.adapters.storage.mark import MARK
from gateway.adapters.storage.rotation import rotate_key
from gateway.adapters.storage.store import open_store
from gateway.core.checkpoint import SigningKey
from gateway.core.errors import LedgerDamaged
from gateway.core.ledger import ConversationSubject
from tests.cli.test_backup import ORIGIN, countersigned, failing, record, sound


def rotate(state: Path) -> SigningKey:
    result = countersigned("audit", "rotate-key", "--state", state, "--yes")
    assert result.exit_code == 0, result.output
    return load_or_make_key(state, "", fresh=False)


def told(*arguments: str | Path) -> str:
    result = countersigned(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


async def start(state: Path) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        await record(store)


@pytest.mark.requirement("002-11", "the key of the log is changed: old checkpoints, receipts and exports verify as before")
async def test_what_an_earlier_key_signed_verifies_after_two_new_keys(state: Path, tmp_path: Path) -> None:
    old_key = (state / PUBLIC).read_text().strip()
    checkpoint, receipt, export = tmp_path / "checkpoint", tmp_path / "receipt", tmp_path / "export"
    checkpoint.write_text(told("audit", "checkpoint", "--state", state))
    told("audit", "receipt", "call-write", "--state", state, "-o", receipt)
    told("audit", "export", export, "--state", state)
    first = rotate(state)
    await start(state)
    second = rotate(state)
    await start(state)
    assert (state / PUBLIC).read_text().strip() == second.verification_key.line()
    for key in (old_key, first.verification_key.line(), second.verification_key.line()):
        told("audit", "verify", "--state", state, "--every-signature", "--key", key, "--checkpoint", checkpoint)
    told("audit", "verify", receipt, "--key", old_key, "--checkpoint", checkpoint)
    told("audit", "verify", export, "--key", old_key, "--checkpoint", checkpoint)
    told("audit", "receipt", "call-write", "--state", state, "-o", receipt)
    told("audit", "export", export, "--state", state)
    for key in (old_key, second.verification_key.line()):
        told("audit", "verify", receipt, "--key", key)
        told("audit", "verify", export, "--key", key, "--checkpoint", checkpoint, "--every-signature")
    listed = told("audit", "keys", "--state", state).splitlines()
    assert [line.split() for line in listed] == [
        ["0", old_key],
        ["34", first.verification_key.line()],
        ["36", second.verification_key.line()],
    ]


async def test_a_key_is_not_changed_under_a_running_gateway(state: Path) -> None:
    async with open_store(state, origin=ORIGIN):
        error = await asyncio.to_thread(failing, "audit", "rotate-key", "--state", state, "--yes")
    assert "a gateway runs on this state folder; stop it first" in error.message


async def test_a_log_of_a_stranger_who_swapped_the_key_is_refused(state: Path) -> None:
    rotate(state)
    stranger = SigningKey(ORIGIN, b"s" * 32)
    (state / PUBLIC).write_text(stranger.verification_key.line() + "\n")
    result = countersigned("audit", "verify", "--state", state)
    assert result.exit_code == 1
    assert "at key, the last key that was handed over to is not the one that is named" in result.output


@pytest.mark.parametrize("stage", ["before the record", "after it", "before the mark"])
async def test_a_change_of_key_that_was_cut_off_is_finished_or_never_was(state: Path, stage: str) -> None:
    before = (state / SECRET).read_bytes()
    mark = (state / MARK).read_bytes()
    new = rotate(state)
    if stage == "before the record":
        # As far as a kill lets it come: the next key lies there, and nothing on record names it.
        other = SigningKey(ORIGIN, b"n" * 32)
        write_once(state / NEXT, other.line(), 0o600)
    else:
        (state / SECRET).rename(state / NEXT)
        (state / SECRET).write_bytes(before)
        (state / SECRET).chmod(0o600)
        if stage == "before the mark":
            (state / MARK).write_bytes(mark)
    await start(state)
    assert not (state / NEXT).exists()
    assert load_or_make_key(state, "", fresh=False).line() == new.line()
    assert sound(state).size == 36


async def test_a_change_of_key_that_fails_before_its_record_leaves_nothing_and_can_be_done_later(state: Path) -> None:
    before = (state / SECRET).read_bytes()
    refuse_records(state, "CREATE TRIGGER full BEFORE INSERT ON leaves BEGIN SELECT abs(-9223372036854775808); END")
    error = failing("audit", "rotate-key", "--state", state, "--yes")
    assert error.message.endswith("; the key was not changed")
    assert (state / SECRET).read_bytes() == before
    assert not (state / NEXT).exists()
    refuse_records(state, "DROP TRIGGER full")
    assert "cut off" not in told("audit", "rotate-key", "--state", state, "--yes")
    await start(state)
    assert sound(state).size == 36


async def test_a_change_of_key_that_fails_after_its_record_says_that_the_new_key_signs(state: Path) -> None:
    before = (state / SECRET).read_bytes()
    (state / f"{MARK}.part").mkdir()
    error = failing("audit", "rotate-key", "--state", state, "--yes")
    assert error.message.endswith("; the new key is on record and signs from now on")
    assert (state / SECRET).read_bytes() != before
    assert not (state / NEXT).exists()
    (state / f"{MARK}.part").rmdir()
    await start(state)
    assert sound(state).size == 36


@pytest.mark.parametrize("is_written", [False, True])
def test_a_change_of_key_of_which_nobody_can_tell_what_became_names_the_next_key_only_where_it_is(
    state: Path, monkeypatch: pytest.MonkeyPatch, *, is_written: bool
) -> None:
    if is_written:
        refuse_records(state, "CREATE TRIGGER full BEFORE INSERT ON leaves BEGIN SELECT abs(-9223372036854775808); END")
    else:
        (state / f"{ROTATIONS}.part").mkdir()
    monkeypatch.setattr(rotation, "settle_key", raise_no_space)
    error = failing("audit", "rotate-key", "--state", state, "--yes")
    assert (state / NEXT).exists() == is_written
    assert "; run it again, or start the gateway" in error.message
    assert (NEXT in error.message) == is_written


def raise_no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_no_command_that_reads_the_key_leaves_it_in_a_core_file(state: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "kept.backup", tmp_path / "other"
    before = resource.getrlimit(resource.RLIMIT_CORE)
    try:
        for command in (
            ("backup", file, "--state", state),
            ("restore", file, "--state", other, "--yes"),
            ("recover", "--state", state, "--yes"),
            ("audit", "rotate-key", "--state", state, "--yes"),
        ):
            resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
            told(*command)
            assert resource.getrlimit(resource.RLIMIT_CORE) == (0, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)


@pytest.mark.parametrize("stage", ["before the record", "after it"])
async def test_a_change_of_key_that_was_killed_can_be_given_again_and_says_what_it_found(state: Path, stage: str) -> None:
    before = (state / SECRET).read_bytes()
    if stage == "before the record":
        write_once(state / NEXT, SigningKey(ORIGIN, b"n" * 32).line(), 0o600)
        output = told("audit", "rotate-key", "--state", state, "--yes")
        assert "cut off before its record. It was taken back." in output
    else:
        new = rotate(state).verification_key.line()
        (state / SECRET).rename(state / NEXT)
        write_once(state / SECRET, before.decode().strip(), 0o600)
        output = told("audit", "rotate-key", "--state", state, "--yes")
        assert "cut off after its record. It is finished now, and no other was made." in output
        assert f"new  {new}" in output
    assert "on record as number 34" in output
    assert not (state / NEXT).exists()
    await start(state)
    assert sound(state).size == 36


def refuse_records(state: Path, statement: str) -> None:
    with sqlite3.connect(state / "ledger.db") as database:
        database.execute(statement)
    database.close()


async def test_an_older_backup_goes_on_with_the_new_key_and_says_that_it_was_handed_over(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.backup"
    old_key = (state / PUBLIC).read_text().strip()
    told("backup", file, "--state", state)
    new = rotate(state)
    assert "on record as number 35" in told("restore", file, "--state", state, "--yes")
    assert load_or_make_key(state, "", fresh=False).line() == new.line()
    assert sound(state).newest_note
    for key in (old_key, new.verification_key.line()):
        told("audit", "verify", "--state", state, "--every-signature", "--key", key)
    await start(state)


async def test_a_newer_backup_brings_its_key_to_a_folder_with_an_older_one(state: Path, tmp_path: Path) -> None:
    old, newer = tmp_path / "old.backup", tmp_path / "newer.backup"
    told("backup", old, "--state", state)
    new = rotate(state)
    told("backup", newer, "--state", state)
    other = tmp_path / "other"
    told("restore", old, "--state", other, "--yes")
    told("restore", newer, "--state", other, "--yes")
    assert load_or_make_key(other, "", fresh=False).line() == new.line()
    assert (other / ROTATIONS).read_bytes() == (state / ROTATIONS).read_bytes()
    await start(other)
    assert sound(other).size > 35


async def test_an_erasure_that_the_old_key_signed_is_done_again_after_a_restore(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.backup"
    told("backup", file, "--state", state)
    with hold_state(state):
        note_erasures(state, load_or_make_key(state, "", fresh=False), [ConversationSubject("cnv_1")])
    rotate(state)
    told("restore", file, "--state", state, "--yes")
    assert sound(state).erased > 0


async def test_rotations_that_do_not_lead_to_the_key_are_a_clear_error(state: Path) -> None:
    rotate(state)
    kept = (state / ROTATIONS).read_text()
    (state / ROTATIONS).write_text(kept.replace('"fromSignature":"', '"fromSignature":"A'))
    with pytest.raises(Exception, match=r"`audit\.rotations` does not lead to the key of this log"):
        async with open_store(state, origin=ORIGIN):
            pass
    (state / ROTATIONS).write_text("{}\n")
    with pytest.raises(Exception, match=r"line 1 of `audit\.rotations`"):
        async with open_store(state, origin=ORIGIN):
            pass


async def test_a_log_that_lost_its_end_gets_no_new_key(state: Path, tmp_path: Path) -> None:
    older = (state / "ledger.db").read_bytes()
    await start(state)
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (state / name).unlink(missing_ok=True)
    (state / "ledger.db").write_bytes(older)
    before = (state / SECRET).read_bytes()
    with hold_state(state), pytest.raises(LedgerDamaged, match="1 are lost"):
        rotate_key(state, 1_795_000_000_000)
    assert (state / SECRET).read_bytes() == before
    assert not (state / NEXT).exists()


def test_an_empty_log_has_no_key_to_change(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    error = failing("audit", "rotate-key", "--state", tmp_path / "state", "--yes")
    assert "nothing is on record yet" in error.message
