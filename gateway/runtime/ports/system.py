"""Time and randomness."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Time. Deadlines inside one process use `monotonic`, so that setting the clock back opens nothing."""

    def now(self) -> int:
        """Wall clock, epoch milliseconds."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...


class Entropy(Protocol):
    """Randomness."""

    def identifier(self, prefix: str) -> str:
        """An opaque id, `apr_` plus URL-safe characters, at most 64 in all. A later one is greater as a text where the clock
        was not set back, so that what is new lies together in every table. At least 80 bits are random, and whoever knows it
        may do nothing with that alone."""
        ...

    def secret(self) -> str:
        """A bearer secret of 256 bits, URL-safe."""
        ...

    def octets(self, count: int) -> bytes:
        """Random bytes."""
        ...
