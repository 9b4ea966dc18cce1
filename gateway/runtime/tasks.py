"""Work that outlives who asked for it, and is still waited for when the gateway stops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks:
    """A set of running tasks. asyncio itself keeps only weak references to them."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Start it."""
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def stop(self) -> None:
        """Cancel everything and wait until it is over."""
        while self._running:
            stopping = tuple(self._running)
            for task in stopping:
                task.cancel()
            await asyncio.gather(*stopping, return_exceptions=True)
            # Their callbacks may not have run yet: since Python 3.14 waiting for what is done need not give way to others.
            self._running.difference_update(stopping)
