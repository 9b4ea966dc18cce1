"""The tokens of a request are on record before anything of its answer is passed on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import cast

import pytest

from gateway.core.ledger import Entry, TokensReserved
from tests.fakes.policy import TablePolicy
from tests.server.conftest import PATIENCE, Running
from tests.server.streamed import ASKED, EVENTS, script


async def test_nothing_of_an_answer_is_passed_on_before_its_tokens_are_on_record(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_be_written = asyncio.Event()
    append = running.ledger.append

    async def append_late(*entries: Entry) -> tuple[int | None, ...]:
        if isinstance(entries[0], TokensReserved):
            await may_be_written.wait()
        return await append(*entries)

    policy = cast("TablePolicy", running.gateway.ports.policy)
    policy.allowance = replace(policy.allowance, tokens_per_session=100_000)
    await running.arrive()
    turn = await running.begin_turn()
    monkeypatch.setattr(running.ledger, "append", append_late)
    script(turn, *EVENTS, None)
    async with asyncio.timeout(PATIENCE):
        asking = asyncio.create_task(turn.ask(ASKED))
        await running.backend.opened.wait()
        assert (await running.browser.get(f"{running.agent}/v1/models", headers=turn.bearer)).status == 200
        assert running.backend.stream.queue.qsize() == len(EVENTS) + 1
        may_be_written.set()
        assert (await asking).body == b"".join(EVENTS)
