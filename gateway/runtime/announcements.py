"""Telling operators' consoles that sources are not as they were."""

from __future__ import annotations

import asyncio
from typing import Final

from gateway.runtime.connections import ConnectionRegistry
from gateway.runtime.notices import SourcesChangedNotice

TOLD_TOGETHER: Final = 0.25
"""Seconds within which changes are told as one. A source decides how often it changes; it must not decide how much is sent."""


class SourceAnnouncements:
    """One notice for all that changes within a moment, to whoever may look at sources."""

    def __init__(self, connections: ConnectionRegistry) -> None:
        self._connections = connections
        self._planned: asyncio.TimerHandle | None = None

    def changed(self) -> None:
        """Something about sources changed. For the event loop's thread."""
        if self._planned is None:
            self._planned = asyncio.get_running_loop().call_later(TOLD_TOGETHER, self._tell)

    def _tell(self) -> None:
        self._planned = None
        self._connections.notify_operators(SourcesChangedNotice())
