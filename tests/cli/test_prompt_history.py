"""The file of what was said at the prompt."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gateway.cli.terminal.history import FILE, KEPT, LONGEST, PromptHistory


def test_lines_come_back_in_order_and_only_their_owner_can_read_them(tmp_path: Path) -> None:
    said = ["one", "two\nlines", "\u202e\x1b[31m", "zw\u00f6lf"]
    for line in said:
        PromptHistory(tmp_path).add(line)
    assert list(PromptHistory(tmp_path).read()) == said
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "line",
    [
        " not this one",
        "x" * (LONGEST + 1),
        "log in with password=hunter2hunter2",
        "my key is ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "half a \ud83d",
    ],
    ids=["a space before it", "too long", "a password", "a token", "no text"],
)
def test_some_lines_are_not_kept(tmp_path: Path, line: str) -> None:
    PromptHistory(tmp_path).add(line)
    PromptHistory(tmp_path).add("the next")
    assert list(PromptHistory(tmp_path).read()) == ["the next"]


def test_the_file_is_bounded(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path)
    for number in range(2 * KEPT + 1):
        history.add(str(number))
    assert list(history.read()) == [str(number) for number in range(KEPT + 1, 2 * KEPT + 1)]
    assert len((tmp_path / FILE).read_text().splitlines()) == KEPT
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_what_is_no_history_is_passed_over_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b'"one"\n{"no": 1}\nbroken\n\xff\n"two"\n"torn')
    assert list(PromptHistory(tmp_path).read()) == ["one", "two"]
    (tmp_path / FILE).unlink()
    (tmp_path / "profile").write_text("mine\n")
    (tmp_path / FILE).symlink_to("profile")
    PromptHistory(tmp_path).add("echo")
    assert (list(PromptHistory(tmp_path).read()), (tmp_path / "profile").read_text()) == ([], "mine\n")
    (tmp_path / FILE).unlink()
    os.mkfifo(tmp_path / FILE)
    PromptHistory(tmp_path).add("echo")
    assert list(PromptHistory(tmp_path).read()) == []


def test_a_folder_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    PromptHistory(tmp_path / "nowhere").add("one")
    assert list(PromptHistory(tmp_path / "nowhere").read()) == []
