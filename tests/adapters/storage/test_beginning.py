"""A state folder that was begun for something that fails."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.adapters.storage.beginning import make_directory, unwritable
from gateway.adapters.storage.store import open_store
from gateway.core import ledger as steps
from gateway.core.errors import LedgerUnavailable
from gateway.core.vocabulary import Profile
from tests.adapters.storage.conftest import ORIGIN


class _Broken(Exception):
    """What the folder was begun for failed."""


async def _break(state: Path, entries: Sequence[steps.Entry], lost: str | None) -> None:
    async with open_store(state, origin=ORIGIN) as store:
        for entry in entries:
            await store.ledger.append(entry)
        if lost is not None:
            (state / lost).unlink()
        raise _Broken


async def _fail(state: Path, *entries: steps.Entry, lost: str | None = None) -> None:
    with pytest.raises(_Broken):
        await _break(state, entries, lost)


async def test_nothing_is_left_of_a_folder_in_which_nothing_but_a_start_is_on_record(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    await _fail(tmp_path / "there" / "new" / "state", steps.PolicyLoaded(1, "a" * 64))
    assert os.listdir(tmp_path) == ["there"]
    assert os.listdir(tmp_path / "there") == []


async def test_a_folder_in_which_anything_was_done_stays(tmp_path: Path) -> None:
    await _fail(tmp_path / "state", steps.EnrolmentOffered(1, "a" * 64, "Ada", Profile.OPERATOR, 2))
    assert (tmp_path / "state" / "ledger.db").exists()


async def test_a_folder_that_was_there_stays_with_all_that_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    await _fail(tmp_path / "state")
    assert (tmp_path / "state" / "ledger.db").exists()
    await _fail(tmp_path / "state")
    assert (tmp_path / "state" / "ledger.db").exists()


async def test_a_long_record_is_not_looked_through_and_stays(tmp_path: Path) -> None:
    await _fail(tmp_path / "state", *(steps.PolicyLoaded(1, "a" * 64) for _ in range(33)))
    assert (tmp_path / "state" / "ledger.db").exists()


async def test_a_folder_whose_database_went_away_meanwhile_stays(tmp_path: Path) -> None:
    await _fail(tmp_path / "state", lost="ledger.db")
    assert (tmp_path / "state" / "audit.key").exists()


def test_a_file_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("mine")
    with pytest.raises(LedgerUnavailable, match=r"`state` is a file"):
        make_directory(tmp_path / "state")
    assert (tmp_path / "state").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("ledger.db", "`ledger.db` in the state directory"),
        ("audit.key", "`audit.key` in the state directory"),
        ("state", "the state directory"),
        (None, "the state directory"),
    ],
)
def test_a_file_that_may_not_be_written_is_named_and_not_taken_for_the_folder(name: str | None, named: str) -> None:
    error = OSError(errno.EACCES, "Permission denied", None if name is None else f"/somewhere/{name}")
    assert unwritable(error).message == f"{named} cannot be written: Permission denied"


async def test_a_lock_that_is_no_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "ledger.db.lock").mkdir()
    with pytest.raises(LedgerUnavailable, match=r"^`ledger\.db\.lock` in the state directory cannot be written: "):
        async with open_store(tmp_path, origin=ORIGIN):
            pass
