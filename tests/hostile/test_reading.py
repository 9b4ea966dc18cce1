"""Somebody who reads back as much as they have stored, on as many sockets as they have."""

from __future__ import annotations

import asyncio

import pytest

from gateway.protocol.frames import MAX_MESSAGE_BYTES
from gateway.server.reading_turns import MOST_WAITING
from tests.harness.person import Turn
from tests.harness.socket import RpcError
from tests.scenarios.conftest import Scene

pytestmark = pytest.mark.asyncio(loop_scope="module")

SOCKETS, EACH, MESSAGES = 8, 20, 12


async def test_case_147_reading_ones_own_on_many_sockets_at_once_keeps_nobody_else_waiting(scene: Scene) -> None:
    """Of one person's large reads one is under way, some wait, and the rest is refused; somebody else's goes in between."""
    eve = await scene.another("Eve", "guest")
    sockets = [await eve.agent() for _ in range(SOCKETS)]
    turn = await Turn.begin(sockets[0])
    place = {"conversationId": turn.conversation_id}
    for _ in range(MESSAGES):
        message = {"role": "user", "content": "x" * (MAX_MESSAGE_BYTES - 1000)}
        await sockets[0].call("messages/append", {**place, "turnId": turn.snapshot["turnId"], "message": message})
    asked = [await socket.send("conversations/export", place) for _ in range(EACH) for socket in sockets]

    assert "conversations" in await scene.shell.call("conversations/list", {})
    assert not all(each.done() for each in asked), "somebody else's read waits for all of them"

    answers = await asyncio.gather(*asked, return_exceptions=True)
    refused = [each.code for each in answers if isinstance(each, RpcError)]
    assert len(refused) >= SOCKETS * EACH - MOST_WAITING - SOCKETS
    assert set(refused) == {-32002}, answers
    # Nothing is left behind: the next one is answered.
    assert "messages" in await sockets[0].call("conversations/export", place)
    await eve.leave()
