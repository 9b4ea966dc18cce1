"""One connection at the protocol's own edge: the test is the network, the peer and the application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from uvicorn.config import Config
from uvicorn.server import ServerState

from gateway.server.transport import SocketProtocol

HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: agent.localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class Peer(asyncio.Transport):
    """The other end of a socket, which keeps what it is sent and notes whether it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[bytes] = []
        self.is_read = True
        self.protocol: asyncio.BaseProtocol | None = None

    def get_protocol(self) -> asyncio.BaseProtocol:
        """asyncio.Transport."""
        assert self.protocol is not None
        return self.protocol

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
        self.heard.append(bytes(data))

    def is_closing(self) -> bool:
        """asyncio.Transport."""
        return False

    def close(self) -> None:
        """asyncio.Transport."""


class BareSocket:
    """One connection. Its application takes a message, and time passes, when a test says so."""

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
        self.peer.heard.clear()

    def send(self, *sizes: int) -> None:
        """The peer sends messages of these sizes, in bytes."""
        for size in sizes:
            self._protocol.data_received(frame(size))

    async def take(self) -> None:
        """The application takes one message."""
        self._takes.release()
        await self._taken.acquire()

    def ping(self) -> None:
        """The time for a ping has come."""
        self._protocol.send_keepalive_ping()

    def miss(self) -> None:
        """The time for its answer is over."""
        timer = self._protocol.pong_timer
        assert timer is not None
        timer.cancel()
        self._protocol.keepalive_timeout()

    def answer(self) -> None:
        """The peer answers the last ping."""
        self._protocol.data_received(b"\x8a\x84\0\0\0\0" + self.peer.heard[-1][-4:])

    def pong(self) -> None:
        """The peer says something that answers no ping."""
        self._protocol.data_received(b"\x8a\x84\0\0\0\0none")

    async def close(self) -> None:
        """End the application."""
        self._protocol.stop_keepalive()
        tasks = tuple(self._protocol.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def open_socket() -> AsyncGenerator[BareSocket]:
    """An open connection, closed at the end."""
    opened = BareSocket()
    await opened.open()
    yield opened
    await opened.close()


def frame(size: int) -> bytes:
    """A text message of that many bytes, masked with zeros."""
    assert 126 <= size < 1 << 16
    return b"\x81\xfe" + size.to_bytes(2) + b"\0\0\0\0" + b"a" * size
