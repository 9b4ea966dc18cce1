"""Noticing that the files under a writer are no longer those that it opened."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from gateway.adapters.storage.holding import SETTLED_NS, HeldState, hold_state
from gateway.core.errors import LedgerSuperseded

LONG_AGO = 10 * SETTLED_NS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "state"
    path.mkdir()
    (path / "watched").write_text("one")
    return path


@pytest.fixture
def held(folder: Path) -> Generator[HeldState]:
    with hold_state(folder) as state:
        state.watch("watched")
        yield state


def set_time(folder: Path, at: int) -> None:
    os.utime(folder, ns=(at, at))


def replace(folder: Path) -> None:
    (folder / "other").write_text("two")
    (folder / "other").rename(folder / "watched")


def test_a_folder_in_which_nothing_changed_passes(folder: Path, held: HeldState) -> None:
    set_time(folder, time.time_ns() - LONG_AGO)
    for _ in range(3):
        held.check()


def test_a_file_that_is_replaced_long_after_the_last_change_is_noticed(folder: Path, held: HeldState) -> None:
    set_time(folder, time.time_ns() - LONG_AGO)
    held.check()
    replace(folder)
    with pytest.raises(LedgerSuperseded):
        held.check()


def test_a_file_that_is_replaced_within_the_same_tick_as_another_change_is_noticed(folder: Path, held: HeldState) -> None:
    tick = time.time_ns()
    set_time(folder, tick)
    held.check()
    replace(folder)
    set_time(folder, tick)
    with pytest.raises(LedgerSuperseded):
        held.check()


def test_a_time_of_change_in_the_future_is_not_believed(folder: Path, held: HeldState) -> None:
    future = time.time_ns() + LONG_AGO
    set_time(folder, future)
    held.check()
    replace(folder)
    set_time(folder, future)
    with pytest.raises(LedgerSuperseded):
        held.check()


def test_a_folder_that_was_moved_away_is_noticed(folder: Path, held: HeldState) -> None:
    set_time(folder, time.time_ns() - LONG_AGO)
    held.check()
    folder.rename(folder.with_name("moved"))
    with pytest.raises(LedgerSuperseded):
        held.check()


def test_another_folder_with_the_same_time_in_its_place_is_noticed(folder: Path, held: HeldState) -> None:
    at = time.time_ns() - LONG_AGO
    set_time(folder, at)
    held.check()
    folder.rename(folder.with_name("moved"))
    folder.mkdir()
    set_time(folder, at)
    with pytest.raises(LedgerSuperseded):
        held.check()
