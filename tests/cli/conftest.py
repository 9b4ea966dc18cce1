"""What tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters.storage.store import open_store
from tests.cli.audit_command import ORIGIN
from tests.fakes.signed_history import append_signed_history


@pytest.fixture
async def state(tmp_path: Path) -> Path:
    """A state folder with a log of every kind of record. A module that needs another one makes its own."""
    directory = tmp_path / "state"
    async with open_store(directory, origin=ORIGIN) as store:
        await append_signed_history(store)
    return directory
