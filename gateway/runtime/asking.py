"""Whether the session that asked for something still lives, for what has waited since it was asked.

A method of a socket is judged when it begins. Behind another request, for a lock or for an answer from the network it may wait
for so long that its person is suspended, signed out or given another profile meanwhile. So it asks once more after it has waited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any

from gateway.core.errors import NotSignedIn

_asked_in: ContextVar[tuple[asyncio.Task[Any] | None, Callable[[], bool]] | None] = ContextVar("asked_in", default=None)


def ask_for(is_live: Callable[[], bool]) -> None:
    """From here on this task answers a session that lives as long as `is_live` says so. Raises NotSignedIn where it has ended."""
    _asked_in.set((asyncio.current_task(), is_live))
    require_asker()


def require_asker() -> None:
    """Raises NotSignedIn where this task answers a session that has ended. What nobody's session asked for goes on."""
    asked = _asked_in.get()
    # A task that this one starts has its context too, and outlives the session: a connection to a source, for one.
    if asked is None or asked[0] is not asyncio.current_task():
        return
    if not asked[1]():
        raise NotSignedIn("the session has ended; nothing was done")


class ChangeLock:
    """A lock for changes. Whoever gets it after their session has ended changes nothing: NotSignedIn."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> None:
        await self._lock.acquire()
        try:
            require_asker()
        except NotSignedIn:
            self._lock.release()
            raise

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()
