"""One large read at a time for each person, whatever number of sockets asks for it.

Reading back a long conversation takes a thread that everybody shares, memory for the whole answer and the event loop while it is
encoded. What somebody reads next begins when their last answer is sent, and everybody else's reads go in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from gateway.core.errors import TooManyRequests

MOST_WAITING: Final = 64
"""Large reads of one person that are under way or wait: several tabs that load at once, each with what a page needs."""


@dataclass(slots=True)
class _Queue:
    """Of one person."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    asked: int = 0


class ReadingTurns:
    """Whose large read is under way."""

    def __init__(self) -> None:
        self._of: dict[str, _Queue] = {}

    @asynccontextmanager
    async def turn(self, principal_id: str) -> AsyncGenerator[None]:
        """Hold this person's turn. Raises TooManyRequests where too many of theirs wait already."""
        queue = self._of.setdefault(principal_id, _Queue())
        if queue.asked >= MOST_WAITING:
            raise TooManyRequests(f"{MOST_WAITING} of your large reads are under way already; ask again when they are answered")
        queue.asked += 1
        try:
            async with queue.lock:
                yield
        finally:
            queue.asked -= 1
            if not queue.asked:
                del self._of[principal_id]
