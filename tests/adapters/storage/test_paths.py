"""State folders whose names would mean something in a URL."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.adapters.storage.backup import back_up, restore
from gateway.adapters.storage.holding import hold_state
from gateway.adapters.storage.inspection import examine, open_stored_log
from gateway.adapters.storage.store import open_store
from gateway.core import ledger as steps
from tests.adapters.storage.conftest import ORIGIN


@pytest.mark.parametrize("name", ["a?mode=memory", "C#", "100%41", "a b&c=d", "file:a", ":memory:", "ü", os.fsdecode(b"\xff")])
async def test_the_record_is_in_the_folder_of_exactly_that_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    state = Path(name)
    for at in (1, 2):
        async with open_store(state, origin=ORIGIN) as store:
            await store.ledger.append(steps.PolicyLoaded(at, "a" * 64))
            assert await store.records.audit_size() == at
    with open_stored_log(state) as stored:
        assert (report := examine(stored)).fault is None
    assert report.size == 2
    back_up(state, Path("backup"), lambda _done, _total: None)
    with hold_state(state):
        assert restore(Path("backup"), state, 3, "now").report.size == 2
    assert sorted(os.listdir()) == sorted(["backup", name])
