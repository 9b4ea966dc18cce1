"""`countersign audit erase` asks nobody to confirm the erasing of what there is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_backup import countersigned, failing
from tests.cli.test_backup import state as state  # noqa: PLC0414 - the fixture


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (("--call", "nonesuch"), "call `nonesuch`"),
        (("--call", "call-write", "--conversation", "cnv_9"), "call `call-write`"),
        (("--conversation", "cnv_9"), "conversation `cnv_9`"),
    ],
)
async def test_what_is_not_on_record_is_said_before_anything_is_asked(state: Path, asked: tuple[str, ...], named: str) -> None:
    assert failing("audit", "erase", *asked, "--state", state).message == f"nothing is on record of {named}"


async def test_a_person_is_named_by_name_as_by_id_and_nobody_else_is_asked_about(state: Path) -> None:
    for asked in ("prn_1", "ada übermut"):
        result = countersigned("audit", "erase", "--person", asked, "--state", state, given="n\n")
        assert result.exit_code == 1
        assert "Erase what is kept of person Ada Übermut (prn_1)? Nothing brings it back." in result.output
    told = failing("audit", "erase", "--person", "Ada Ubermut", "--state", state).message
    assert told == "no person `Ada Ubermut` was ever on record; nearest: `Ada Übermut`"


async def test_a_call_that_is_on_record_is_asked_about_and_kept_by_a_no(state: Path) -> None:
    result = countersigned("audit", "erase", "--call", "call-write", "--state", state, given="n\n")
    assert result.exit_code == 1
    assert "Erase what is kept of call call-write? Nothing brings it back." in result.output


def test_a_folder_without_a_log_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    assert "there is no `ledger.db`" in failing("audit", "erase", "--call", "x", "--state", tmp_path).message
