"""`countersign audit` over a state folder, and a change to what the folder holds."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result
from sqlalchemy import text

from gateway.adapters.storage.sqlite import DATABASE, dispose, open_for_writing
from gateway.cli import countersign
from tests.harness.record_texts import UNPACK

ORIGIN = "gateway.example/audit"


def audit(*arguments: str | Path) -> Result:
    return CliRunner().invoke(countersign, ["audit", *map(str, arguments)])


def edit(state: Path, change: str) -> None:
    with dispose(open_for_writing(state / DATABASE)) as writing, writing.begin() as connection:
        connection.execute(text(UNPACK))
        connection.execute(text(change))
