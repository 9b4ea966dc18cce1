"""Running uvicorn: alone in its process until a signal, or beside a command that handles the signals."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from types import FrameType
from typing import Any, Final, TypeAlias

import uvicorn
from starlette.types import ASGIApp

AsgiApp: TypeAlias = ASGIApp

_log = logging.getLogger(__name__)


STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
"""Ctrl-C, what supervisors send, and Ctrl-\\, which is a graceful end for other servers too."""

HURRY_SECONDS: Final = 2.0
"""How long the process may still take after a second signal: time to let go of programs and files, none for what hangs."""

Drain = Callable[[], Coroutine[Any, Any, None]]
"""What happens between the first signal and the end of the server."""


async def no_drain() -> None:
    """Ends at once."""


class Server(uvicorn.Server):
    """uvicorn until a signal to stop, calling `on_ready` when it listens and `drain` when it is asked to stop.

    It still listens while it drains. A second signal ends the draining, and the process soon after.
    """

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], object], drain: Drain = no_drain) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._drain = drain
        self._draining: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal came."""
        if self.should_exit:
            self.force_exit = True
            if self._draining is not None:
                self._draining.cancel()
            # What is on disk is sound at every moment, so a tool that never returns may be left behind.
            asyncio.get_running_loop().call_later(HURRY_SECONDS, os._exit, 128 + sig)
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, unless there were two signals already, then close everything."""
        if not self.force_exit:
            self._draining = asyncio.get_running_loop().create_task(self._drain())
            await asyncio.wait({self._draining})
            if not self._draining.cancelled() and (error := self._draining.exception()) is not None:
                _log.error("the gateway could not drain", exc_info=error)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """These signals end the server without an error; uvicorn alone would raise them again at the end."""
        loop = asyncio.get_running_loop()
        for number in STOPPING:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in STOPPING:
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then call `on_ready`."""
        await super().startup(sockets)
        self._on_ready()


class _EmbeddedServer(Server):
    """The same without signal handlers: the command in whose process it runs has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leaves the signals alone."""
        yield


@contextlib.asynccontextmanager
async def serving_beside(config: uvicorn.Config, listening: socket.socket) -> AsyncGenerator[None]:
    """Serve while the context lasts. At its end, open requests are aborted, so that the command need not wait for browsers."""
    ready = asyncio.Event()
    server = _EmbeddedServer(config, ready.set)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        waiting = asyncio.ensure_future(ready.wait())
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        yield
    finally:
        server.should_exit = server.force_exit = True
        await asyncio.wait({serving})
