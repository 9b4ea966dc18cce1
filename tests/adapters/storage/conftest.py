"""The two ledgers that the contract is held against: the one in memory and the one on the disk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.adapters.storage.store import open_store
from gateway.runtime.ports import Ledger, Records
from tests.fakes.history import History
from tests.fakes.ledger import MemoryLedger

ORIGIN = "gateway.example/audit"


@dataclass(frozen=True, slots=True)
class Kept:
    """A ledger and what can be read back from it."""

    ledger: Ledger
    records: Records


@pytest.fixture(params=["memory", "sqlite"])
async def kept(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kept]:
    if request.param == "memory":
        memory = MemoryLedger()
        yield Kept(memory, memory)
        return
    async with open_store(tmp_path / "state", origin=ORIGIN) as store:
        yield Kept(store.ledger, store.records)


@pytest.fixture
async def history(kept: Kept) -> History:
    """What happens to one person, with its beginning on record."""
    history = History()
    await kept.ledger.append(*history.beginning())
    return history
