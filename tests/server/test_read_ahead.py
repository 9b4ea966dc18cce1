"""How far a socket is read before the gateway has taken what was sent: a peer that sends without end is made to wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from gateway.server.transport import READ_AHEAD, SMALL_MESSAGE, SocketProtocol

HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: agent.localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class Peer(asyncio.Transport):
    """The other end of a socket, which notes whether it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = True

    def pause_reading(self) -> None:
        """asyncio.Transport."""
        assert self.is_read
        self.is_read = False

    def resume_reading(self) -> None:
        """asyncio.Transport."""
        assert not self.is_read
        self.is_read = True

    def write(self, data: Any) -> None:
        """asyncio.Transport."""

    def is_closing(self) -> bool:
        """asyncio.Transport."""
        return False

    def close(self) -> None:
        """asyncio.Transport."""


def frame(size: int) -> bytes:
    """A text message of that many bytes, masked with zeros."""
    assert 126 <= size < 1 << 16
    return b"\x81\xfe" + size.to_bytes(2) + b"\0\0\0\0" + b"a" * size


class Socket:
    """One connection whose application takes a message when it is told to."""

    def __init__(self) -> None:
        self.peer = Peer()
        self._takes = asyncio.Semaphore(0)
        self._taken = asyncio.Semaphore(0)
        self._protocol = SocketProtocol(Config(self._serve, ws="none", lifespan="off", log_config=None), ServerState(), {})

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while True:
            self._taken.release()
            await self._takes.acquire()
            await receive()

    async def open(self) -> None:
        """Connect; the application takes nothing yet."""
        self._protocol.app = self._serve
        self._protocol.connection_made(self.peer)
        self._protocol.data_received(HANDSHAKE)
        await self._taken.acquire()

    def send(self, *sizes: int) -> None:
        """The peer sends messages of these sizes."""
        for size in sizes:
            self._protocol.data_received(frame(size))

    async def take(self) -> None:
        """The application takes one message."""
        self._takes.release()
        await self._taken.acquire()

    async def close(self) -> None:
        """End the application."""
        tasks = tuple(self._protocol.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
async def socket() -> AsyncGenerator[Socket]:
    opened = Socket()
    await opened.open()
    yield opened
    await opened.close()


async def test_a_few_small_messages_are_read_before_the_first_is_taken(socket: Socket) -> None:
    socket.send(*[SMALL_MESSAGE] * READ_AHEAD)
    assert socket.peer.is_read


async def test_a_peer_that_sends_on_and_on_is_read_no_further_until_all_of_it_was_taken(socket: Socket) -> None:
    socket.send(*[SMALL_MESSAGE] * READ_AHEAD)
    socket.send(SMALL_MESSAGE)
    assert not socket.peer.is_read
    for _ in range(READ_AHEAD):
        await socket.take()
        assert not socket.peer.is_read
    await socket.take()
    assert socket.peer.is_read


async def test_behind_a_long_message_nothing_is_read_until_it_was_taken(socket: Socket) -> None:
    socket.send(SMALL_MESSAGE + 1)
    assert not socket.peer.is_read
    await socket.take()
    assert socket.peer.is_read


async def test_a_small_message_behind_a_long_one_does_not_let_the_peer_send_on(socket: Socket) -> None:
    socket.send(SMALL_MESSAGE + 1, 200)
    assert not socket.peer.is_read
    await socket.take()
    assert not socket.peer.is_read
    await socket.take()
    assert socket.peer.is_read
