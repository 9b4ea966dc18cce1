"""A flood of messages on one socket, and everybody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.server import message_budget, websocket
from tests.server.sockets import Stage, serve_sockets


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with serve_sockets() as served:
        yield served


async def test_case_276_everybody_elses_turn_comes_between_two_refusals_of_a_flood(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_budget, "MESSAGES_AT_ONCE", 0.0)
    opened = await stage.connect("agent")
    turns, refused_in = 0, list[int]()
    encode = websocket.encode_error

    def note_turn(*arguments: Any) -> bytes:
        refused_in.append(turns)
        return encode(*arguments)

    monkeypatch.setattr(websocket, "encode_error", note_turn)
    flood = [await opened.send("session/describe") for _ in range(200)]
    while len(refused_in) < len(flood):
        turns += 1
        await asyncio.sleep(0)
    assert len(set(refused_in)) == len(flood)
    await asyncio.gather(*flood, return_exceptions=True)
