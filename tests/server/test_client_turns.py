"""The turns that the gateway makes for an MCP client, over a runtime of fakes."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator

import pytest

from gateway.core.errors import GatewayStopping, NotFound
from gateway.core.vocabulary import Runner
from gateway.runtime.timing import SNAPSHOT_SECONDS
from gateway.server.mcp.client_turn import ClientTurn
from tests.server.sockets import Stage, serve_sockets


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        yield served


async def turn_of(stage: Stage, idle_seconds: float) -> tuple[ClientTurn, str]:
    """The turn of a client of Ada's, and its conversation."""
    session = stage.agents["ses_ada_agent"]
    connection = stage.gateway.connections.attach(session, "con_mcp", Runner.MCP_CLIENT)
    conversation = await stage.gateway.conversations.create(session, "MCP client")
    return ClientTurn(stage.gateway, connection, conversation.id, idle_seconds), conversation.id


def is_open(stage: Stage, conversation_id: str) -> bool:
    return any(each.turn is not None for each in stage.gateway.conversations.in_use() if each.id == conversation_id)


async def test_requests_of_one_burst_share_a_turn_and_the_next_burst_gets_another(stage: Stage) -> None:
    turn, conversation_id = await turn_of(stage, 0.05)
    first = await turn.enter()
    second = await turn.enter()
    assert first.turn_id == second.turn_id
    turn.leave()
    assert is_open(stage, conversation_id)
    turn.leave()
    await stage.until(lambda: not is_open(stage, conversation_id))
    assert (await turn.enter()).turn_id != first.turn_id


async def test_a_request_keeps_its_turn_open_however_long_it_takes(stage: Stage) -> None:
    turn, conversation_id = await turn_of(stage, 0.0)
    waiting = await turn.enter()
    assert (await turn.enter()).id == waiting.id
    turn.leave()
    await asyncio.sleep(0)
    assert is_open(stage, conversation_id)


async def test_a_snapshot_that_ran_out_is_replaced_in_the_same_turn(stage: Stage) -> None:
    turn, _ = await turn_of(stage, 60.0)
    first = await turn.enter()
    turn.leave()
    stage.clock.advance(SNAPSHOT_SECONDS + 1)
    second = await turn.enter()
    assert (second.turn_id, second.id == first.id) == (first.turn_id, False)


async def test_a_revoked_snapshot_is_replaced_in_the_same_turn(stage: Stage) -> None:
    turn, _ = await turn_of(stage, 60.0)
    first = await turn.enter()
    stage.gateway.turns.revoke_snapshots("policyChanged")
    second = await turn.enter()
    assert (second.turn_id, second.id == first.id) == (first.turn_id, False)


async def test_a_request_that_is_cancelled_while_its_turn_begins_leaves_a_turn_that_the_next_one_finds(stage: Stage) -> None:
    turn, conversation_id = await turn_of(stage, 60.0)
    entering = asyncio.ensure_future(turn.enter())
    await asyncio.sleep(0)
    entering.cancel()
    await asyncio.gather(entering, return_exceptions=True)
    await stage.until(lambda: is_open(stage, conversation_id))
    snapshot = await turn.enter()
    [conversation] = [each for each in stage.gateway.conversations.in_use() if each.id == conversation_id]
    assert conversation.turn is not None
    assert conversation.turn.id == snapshot.turn_id


async def test_a_turn_that_cannot_begin_for_a_request_that_is_gone_is_not_reported_as_a_fault(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    session_over, refused = asyncio.Event(), asyncio.Event()

    async def begin(*_: object) -> None:
        await session_over.wait()
        refused.set()
        raise NotFound("that session is over")

    monkeypatch.setattr(stage.gateway.turns, "begin", begin)
    turn, _ = await turn_of(stage, 60.0)
    entering = asyncio.ensure_future(turn.enter())
    await asyncio.sleep(0)
    entering.cancel()
    await asyncio.gather(entering, return_exceptions=True)
    session_over.set()
    await refused.wait()
    await asyncio.sleep(0)  # The loop lets go of the task that ended.
    del turn, entering
    gc.collect()
    assert reported == []


async def test_no_turn_begins_in_a_gateway_that_stops(stage: Stage) -> None:
    turn, conversation_id = await turn_of(stage, 60.0)
    stage.gateway.admission.close()
    with pytest.raises(GatewayStopping):
        await turn.enter()
    assert not is_open(stage, conversation_id)
