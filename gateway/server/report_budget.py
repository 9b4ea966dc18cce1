"""How much of what nobody signs in to send is written to the log: a few lines a minute, whoever sends it.

Any page of the web can name this address as the one for its reports, and whoever reaches the port can send what is not HTTP.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

AT_ONCE: Final = 20
PER_MINUTE: Final = 10.0


class ReportBudget:
    """A token bucket that counts what it turns away. `now` gives seconds that only rise."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._left = float(AT_ONCE)
        self._filled_at = now()
        self._turned_away = 0

    def spend(self) -> int | None:
        """How many were turned away since the last one that was not; None for one that is turned away."""
        now = self._now()
        self._left = min(float(AT_ONCE), self._left + (now - self._filled_at) * PER_MINUTE / 60)
        self._filled_at = now
        if self._left < 1:
            self._turned_away += 1
            return None
        self._left -= 1
        missing, self._turned_away = self._turned_away, 0
        return missing


class FewWarnings(logging.Filter):
    """Passes a few of a library's warnings on, with how many were left out before. Errors all pass."""

    def __init__(self, budget: ReportBudget) -> None:
        super().__init__()
        self._budget = budget

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if record.levelno != logging.WARNING:
            return True
        missing = self._budget.spend()
        if missing:
            record.msg, record.args = f"{record.getMessage()} ({missing} warnings before this one were left out)", ()
        return missing is not None
