"""A flood of messages on one socket, and everybody else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from gateway.server import message_budget, websocket
from gateway.server.listener import MUCH_AT_ONCE, LimitedHttp
from tests.server.bare_socket import Peer
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


async def test_case_277_after_much_of_one_connection_comes_everybody_elses_turn() -> None:
    ended = asyncio.Event()

    async def take_nothing(_scope: Any, _receive: Any, _send: Any) -> None:
        await ended.wait()

    http, peer = LimitedHttp(Config(take_nothing, lifespan="off", log_config=None), ServerState(), {}), Peer()
    peer.protocol = http
    http.connection_made(peer)
    http.data_received(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert peer.is_read
    http.data_received(b"1\r\na\r\n" * (MUCH_AT_ONCE // 6 + 1))
    assert not peer.is_read
    await asyncio.sleep(0)
    assert peer.is_read
    # What nobody takes stays where it is: the flow of the body is the application's.
    http.data_received(b"20000\r\n" + b"a" * 0x20000)
    await asyncio.sleep(0)
    assert not peer.is_read
    http.connection_lost(None)
    ended.set()
