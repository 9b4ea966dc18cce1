"""Metrics as plain numbers: counts and durations, never arguments, names of people or conversations."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.ports import Step

BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
"""Upper bounds of the buckets of a duration, in seconds: those that Prometheus' own clients take by default."""


@dataclass(eq=False, slots=True)
class Durations:
    """How many durations fell into each bucket, the last one without a bound, and their sum in seconds."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds


class Metrics:
    """The Observer port, and the server's MetricsPage.

    Everything is a plain number until somebody asks: every call takes nine steps, and the library's counters cost more than
    most of the steps do.
    """

    def __init__(self) -> None:
        self.steps = dict.fromkeys(Step, 0)
        self.closings: Counter[tuple[str, Outcome, Reason | None]] = Counter()
        self.durations = {outcome: Durations() for outcome in Outcome}
        self.requests: Counter[tuple[str, int]] = Counter()

    def step(self, step: Step, call_id: str) -> None:
        """Count one step."""
        self.steps[step] += 1

    def closed(self, tool: str, outcome: Outcome, reason: Reason | None, seconds: float) -> None:
        """Count one closed call. A tool name that is not published comes from a client, so it gets no series of its own."""
        self.closings["" if outcome is Outcome.UNKNOWN_TOOL else tool, outcome, reason] += 1
        self.durations[outcome].observe(seconds)

    def count_request(self, tag: str, status: int) -> None:
        """Count one HTTP request by the tag of its route and the status of its answer."""
        self.requests[tag, status] += 1

    def render(self) -> tuple[bytes, str]:
        """The exposition text, and its content type."""
        # Imported by the first scrape: the library brings a web server, 4 MB for a gateway that nobody scrapes.
        from gateway.adapters.telemetry.exposition import expose

        return expose(self)
