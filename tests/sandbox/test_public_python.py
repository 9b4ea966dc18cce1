"""The interpreter of the other tests here, on a machine that has none for everybody."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.sandbox.public_python import can_be_run, copy_python


def test_a_copy_of_the_interpreter_can_be_run_by_every_user() -> None:
    with tempfile.TemporaryDirectory(prefix="countersign-python-") as name:
        copied = copy_python(Path(name).resolve())

        assert can_be_run(copied.path)
        assert copied.folders == (Path(name).resolve(),)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can try who may run what")
def test_an_interpreter_in_a_private_folder_is_not_taken_for_one() -> None:
    with tempfile.TemporaryDirectory(prefix="countersign-python-") as name:
        copied = copy_python(Path(name).resolve())
        Path(name).chmod(0o700)

        assert not can_be_run(copied.path)
        assert not can_be_run("/no/such/python3")
