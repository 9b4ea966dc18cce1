"""The machine's clocks."""

from __future__ import annotations

import time

_NANOSECONDS_PER_MILLISECOND = 1_000_000


class SystemClock:
    """The Clock port over the operating system."""

    def now(self) -> int:
        """Wall clock, epoch milliseconds."""
        return time.time_ns() // _NANOSECONDS_PER_MILLISECOND

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()
