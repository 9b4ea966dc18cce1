"""How much one connection may send: token buckets."""

from __future__ import annotations

from collections.abc import Callable

from gateway.runtime.ports import Clock

MESSAGES_PER_SECOND = 2_000.0
"""Messages of one connection per second, on average. A busy loop sends about ten, a benchmark with one caller a thousand;
above this limit a client floods the gateway, and a refusal costs less than an answer."""

MESSAGES_AT_ONCE = 4_000.0


class TokenBucket:
    """`at_once` deep, filled at `per_second`; `now` counts seconds."""

    def __init__(self, now: Callable[[], float], *, at_once: float, per_second: float) -> None:
        self._now = now
        self._at_once = at_once
        self._per_second = per_second
        self._left = at_once
        self._filled_at = now()

    def spend(self) -> bool:
        """Take one token; False when none is left."""
        now = self._now()
        self._left = min(self._at_once, self._left + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class MessageBudget(TokenBucket):
    """Of the messages of one connection."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock.monotonic, at_once=MESSAGES_AT_ONCE, per_second=MESSAGES_PER_SECOND)
