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
        """An opaque id, `apr_` plus at least 120 random bits in URL-safe characters; at most 64 characters."""
        ...

    def secret(self) -> str:
        """A bearer secret of 256 bits, URL-safe."""
        ...

    def octets(self, count: int) -> bytes:
        """Random bytes."""
        ...
