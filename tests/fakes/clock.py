"""A clock that stands still until a test moves it."""

from __future__ import annotations

START = 1_800_000_000_000
"""Some instant in 2027, epoch milliseconds."""


class FakeClock:
    """The Clock port. `advance` moves both clocks; `set_wall` moves only the wall clock, as an operator might."""

    def __init__(self, now: int = START) -> None:
        self._now = now
        self._monotonic = 1_000.0

    def now(self) -> int:
        """Wall clock, epoch milliseconds."""
        return self._now

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += int(seconds * 1000)
        self._monotonic += seconds

    def set_wall(self, now: int) -> None:
        """Set the wall clock, back too."""
        self._now = now
