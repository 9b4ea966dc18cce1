"""Results of this launch to look at once more: of a long one only the beginning and the end are shown as it comes."""

from __future__ import annotations

from typing import Final

KEPT: Final = 20
"""Results. One is at most what a tool's result may be, some hundred KiB."""


class RecentResults:
    """The latest, numbered from 1 in the order in which they came."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._count = 0

    def add(self, text: str) -> int:
        """Keep one; returns its number."""
        self._count += 1
        self._texts[self._count] = text
        self._texts.pop(self._count - KEPT, None)
        return self._count

    def get(self, number: int | None) -> str | None:
        """That one, or the latest; None for one that is not kept."""
        return self._texts.get(self._count if number is None else number)
