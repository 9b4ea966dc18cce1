"""How many messages one connection may send: a token bucket."""

from __future__ import annotations

from gateway.runtime.ports import Clock

MESSAGES_PER_SECOND = 2_000.0
"""Messages of one connection per second, on average. A busy loop sends about ten, a benchmark with one caller a thousand;
above this limit a client floods the gateway, and a refusal costs less than an answer."""

MESSAGES_AT_ONCE = 4_000.0


class MessageBudget:
    """A token bucket: `MESSAGES_AT_ONCE` deep, filled at `MESSAGES_PER_SECOND`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._left = MESSAGES_AT_ONCE
        self._filled_at = clock.monotonic()

    def spend(self) -> bool:
        """Take one token; False when none is left."""
        now = self._clock.monotonic()
        self._left = min(MESSAGES_AT_ONCE, self._left + (now - self._filled_at) * MESSAGES_PER_SECOND)
        self._filled_at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
