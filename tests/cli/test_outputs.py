"""What a command writes is whole or not there, and what is no regular file stays what it is."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli import countersign
from gateway.cli.outputs import open_output
from gateway.core.errors import LedgerUnavailable, Misconfigured
from tests.cli.audit_command import audit


def write_half(path: Path) -> None:
    with open_output(path) as file:
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("arguments", [("export",), ("export", "--format", "csv"), ("receipt", "call-write", "-o")])
def test_a_device_is_written_to_and_a_full_one_is_one_sentence(state: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    before = os.stat("/dev/full").st_rdev
    refused = audit(*arguments, full, "--state", state)
    assert isinstance(refused.exception, Misconfigured)
    assert str(refused.exception) == f"`{full}` cannot be written: No space left on device"
    assert os.stat("/dev/full").st_rdev == before != 0


def test_a_file_that_could_not_be_written_to_its_end_leaves_the_earlier_one(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("earlier")
    with pytest.raises(Misconfigured, match="cannot be written: No space left on device"):
        write_half(kept)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("kept", "earlier")]
    with open_output(kept) as file:
        file.write(b"whole")
    assert kept.read_text() == "whole"


def test_a_folder_and_a_place_that_is_not_there_are_refused_in_one_sentence(state: Path, tmp_path: Path) -> None:
    assert audit("export", tmp_path, "--state", state).exit_code == 2
    missing = audit("receipt", "call-write", "--state", state, "-o", tmp_path / "none" / "x")
    assert isinstance(missing.exception, Misconfigured)
    assert str(missing.exception).endswith("cannot be written: No such file or directory")


@pytest.mark.parametrize("arguments", [("show",), ("export", "-"), ("verify",)])
def test_a_full_disk_behind_standard_output_is_one_sentence_and_exit_code_2(state: Path, arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gateway", "audit", *arguments, "--state", str(state)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2, done.stderr
    assert done.stderr == "countersign: standard output cannot be written: No space left on device\n"


def test_a_standard_output_that_was_opened_for_reading_is_one_sentence_and_exit_code_2(state: Path) -> None:
    with open(os.devnull, "rb") as output:
        done = subprocess.run(
            [sys.executable, "-m", "gateway", "audit", "show", "--state", str(state)],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (2, "countersign: standard output cannot be written: Bad file descriptor\n")


def test_a_backup_that_cannot_be_written_is_one_line_where_nobody_watches_it_grow(state: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(countersign, ["backup", str(tmp_path / "none" / "copy"), "--state", str(state)])
    assert isinstance(done.exception, LedgerUnavailable)
    assert done.output == ""
