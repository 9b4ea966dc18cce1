"""Killed at any moment, the log is whole and nothing that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from gateway.adapters.storage.inspection import examine, open_stored_log
from gateway.adapters.storage.store import open_store
from gateway.core.canonical import parse
from gateway.core.errors import LedgerDamaged
from tests.crash import ledger_child
from tests.harness.damage import tear, written_part

EVENTS = {"I": "call:intended", "C": "call:closed"}
KILLS = (1, 40, 7, 150, 3, 400, 60, 900)
"""After how many acknowledgements each run is killed."""


async def run_until_killed(state: Path, run: int, acknowledgements: int) -> dict[int, tuple[str, str]]:
    """Start a child, kill it in the middle of everything, and give what it had acknowledged: event and call by index."""
    acknowledged: dict[int, tuple[str, str]] = {}
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        ledger_child.__name__,
        str(state),
        str(run),
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": "."},
    )
    assert child.stdout is not None
    try:
        while len(acknowledged) < acknowledgements:
            note(acknowledged, await child.stdout.readline())
    finally:
        child.kill()
    # What it had said before it died and nobody had read yet counts too; a line cut in half does not.
    for line in (await child.stdout.read()).splitlines(keepends=True):
        if line.endswith(b"\n"):
            note(acknowledged, line)
    await child.wait()
    return acknowledged


def note(acknowledged: dict[int, tuple[str, str]], line: bytes) -> None:
    kind, call_id, index = line.decode().split()
    assert int(index) not in acknowledged
    acknowledged[int(index)] = (EVENTS[kind], call_id)


@pytest.mark.requirement("002-11", "eight kills lose no acknowledged entry and leave a sound log")
async def test_eight_kills_lose_no_acknowledged_entry(tmp_path: Path) -> None:
    state = tmp_path / "state"
    acknowledged: dict[int, tuple[str, str]] = {}
    async with asyncio.timeout(300):
        for run, count in enumerate(KILLS):
            acknowledged |= await run_until_killed(state, run, count)
            with open_stored_log(state) as stored:
                report = examine(stored)
                recorded = {leaf.index: parse(leaf.body) for leaf in stored.leaves()}
            assert report.fault is None
            # Callers wait for the ledger, so no more than one call of each can be open.
            assert report.open_calls <= ledger_child.CALLERS
            for index, said in acknowledged.items():
                assert (recorded[index]["event"], recorded[index]["callId"]) == said
        async with open_store(state, origin="gateway.example/audit") as store:
            for event, call_id in acknowledged.values():
                call = await store.records.call("cnv_1", call_id)
                assert call is not None
                assert event == EVENTS["I"] or call.result is not None


async def refuse_to_start(state: Path) -> str:
    """What the store says about damage; nothing where it starts."""
    try:
        async with open_store(state, origin="gateway.example/audit"):
            return ""
    except LedgerDamaged as damage:
        return damage.message


@pytest.mark.parametrize("torn", [1, 100, 4_000])
async def test_a_write_ahead_log_that_lost_its_end_is_noticed_where_anything_acknowledged_is_gone(
    tmp_path: Path, torn: int
) -> None:
    """What a disk that lied about its last writes leaves behind: whole transactions or none, and a mark that knows better."""
    state = tmp_path / "state"
    async with asyncio.timeout(120):
        acknowledged = await run_until_killed(state, 0, 50)
    wal = state / "ledger.db-wal"
    tear(wal, len(written_part(wal)) - torn)
    with open_stored_log(state) as stored:
        report = examine(stored)
    assert report.fault is None, "what is left reads as an earlier whole log"
    refusal = await refuse_to_start(state)
    # The mark may also know of records that nobody had been told of yet.
    assert ("are lost" in refusal) if report.size <= max(acknowledged) else (refusal == "" or "are lost" in refusal)
