"""uvicorn at work: alone in its process, or beside a command that has the signals."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from typing import TypeAlias

import uvicorn
from starlette.types import ASGIApp

AsgiApp: TypeAlias = ASGIApp


class Server(uvicorn.Server):
    """uvicorn until SIGINT or SIGTERM, calling `greet` when it is ready."""

    def __init__(self, config: uvicorn.Config, greet: Callable[[], object]) -> None:
        super().__init__(config)
        self._greet = greet

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """SIGINT and SIGTERM end the server, and that is a success: uvicorn would raise them once more at the end."""
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self._greet()


class _GuestServer(Server):
    """The same without the signals, which are its host's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """None."""
        yield


@contextlib.asynccontextmanager
async def serving_beside(config: uvicorn.Config, listening: socket.socket) -> AsyncGenerator[None]:
    """Serve while the context lasts. What is under way at its end is cut off: whoever leaves does not wait for browsers."""
    ready = asyncio.Event()
    server = _GuestServer(config, ready.set)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        yield
    finally:
        server.should_exit = server.force_exit = True
        await asyncio.wait({serving})
