"""Answers that take longer than the token holds that they were asked for with."""

from __future__ import annotations

import pytest
import pytest_asyncio

from gateway.core.vocabulary import PermissionMode
from gateway.runtime.ports import PolicySubject, PolicyVerdict
from tests.server.conftest import Running, Turn
from tests.server.streamed import ASKED, EVENTS, streaming

LONGER_THAN_A_TOKEN = 301


def refuse(_subject: PolicySubject, *, local: bool, label: int) -> PolicyVerdict:
    """No model may be asked, wherever it is and whatever the label."""
    return PolicyVerdict(PermissionMode.FORBIDDEN if label >= 0 or local else PermissionMode.AUTO, ())


@pytest_asyncio.fixture
async def turn(running: Running) -> Turn:
    await running.arrive()
    return await running.begin_turn()


async def test_an_answer_that_began_in_time_goes_on_when_somebody_elses_label_rises(turn: Turn) -> None:
    running = turn.running
    async with streaming(turn) as response:
        running.clock.advance(LONGER_THAN_A_TOKEN)
        running.gateway.inference.judge_again()
        assert not turn.lease.revoked.is_set()
        running.backend.stream.queue.put_nowait(EVENTS[1])
        running.backend.stream.queue.put_nowait(None)
        assert await response.content.read() == EVENTS[1]
    assert (await turn.ask(ASKED)).status == 401


async def test_case_293_an_answer_that_outlasts_its_token_is_judged_when_a_label_rises(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = turn.running
    async with streaming(turn) as response:
        running.clock.advance(LONGER_THAN_A_TOKEN)
        # Another token is made meanwhile, by whoever it is.
        await running.begin_turn()
        monkeypatch.setattr(running.gateway.ports.policy, "may_infer", refuse)
        running.gateway.inference.judge_again()
        assert b"token_revoked" in await response.content.read()
