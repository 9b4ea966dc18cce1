"""Between the record that takes authority from somebody and the end of their last session, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.core.errors import LedgerUnavailable
from gateway.core.ledger import CallIntended, Entry, PrincipalRemoved, PrincipalSuspended
from tests.server.conftest import PATIENCE
from tests.server.sockets import Stage, Turn, serve_sockets

TAKEN = (PrincipalSuspended, PrincipalRemoved)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        yield served


@pytest.mark.parametrize("method", ["people/suspend", "people/remove"])
async def test_case_284_nothing_runs_for_somebody_whose_authority_is_being_taken(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """docs/SECURITY.md case 284."""
    eve = await stage.connect("agent", "ses_eve_agent")
    turn = await Turn.begin(eve)
    operator = await stage.connect("console", "ses_ada_console")
    on_record, go_on, append = asyncio.Event(), asyncio.Event(), stage.ledger.append

    async def wait_after(*entries: Entry) -> object:
        answered = await append(*entries)
        if isinstance(entries[0], TAKEN):
            on_record.set()
            await go_on.wait()
        return answered

    monkeypatch.setattr(stage.ledger, "append", wait_after)
    taking = await operator.send(method, {"principal": "usr_eve"})
    async with asyncio.timeout(PATIENCE):
        await on_record.wait()
        await eve.send("tools/invoke", turn.request("look", "late"))
        await eve.wait_closed()
        go_on.set()
        await taking
    assert not [each for each in stage.ledger.entries if isinstance(each, CallIntended)]


async def test_what_could_not_be_put_on_record_takes_nothing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    eve = await stage.connect("agent", "ses_eve_agent")
    append = stage.ledger.append

    async def fail(*entries: Entry) -> object:
        if isinstance(entries[0], TAKEN):
            raise LedgerUnavailable("the disk is full")
        return await append(*entries)

    monkeypatch.setattr(stage.ledger, "append", fail)
    operator = await stage.connect("console", "ses_ada_console")
    with pytest.raises(Exception, match="disk is full"):
        await operator.call("people/suspend", {"principal": "usr_eve"})
    assert (await eve.call("session/describe"))["session"]["principal"]
