"""How soon a source is looked at again that asks for it by itself.

A server may end and come back, and say that its tools changed, as often as it likes: each time costs a start of its process, or a
list that is read, compared and put on record. Twenty of these are taken as they come; after that one in five minutes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

QUIET_SECONDS: Final = 0.5
"""Between two looks, however often the other side asks for one."""

MOST_AT_ONCE: Final = 20
"""Looks that are taken as they come."""

LONGEST_PAUSE: Final = 300.0
"""Seconds for each look beyond them."""


class Restlessness:
    """Of one source."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self.calm()

    def calm(self) -> None:
        """A person looked at it, so it is trusted anew."""
        self._left, self._at = float(MOST_AT_ONCE), self._monotonic()

    def next_pause(self) -> float:
        """Seconds until the look that is asked for now."""
        now = self._monotonic()
        self._left = min(MOST_AT_ONCE, self._left + (now - self._at) / LONGEST_PAUSE) - 1
        self._at = now
        if self._left >= 0:
            return QUIET_SECONDS
        self._left = 0.0
        return LONGEST_PAUSE
