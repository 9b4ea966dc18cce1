"""Prometheus metrics: counts and durations, never arguments, names of people or conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.ports import Step


class Metrics(Collector):
    """The Observer port over one registry of its own, so that two gateways in one process do not share counts.

    Steps and closings are counted in plain numbers and turned into series when somebody asks: every call takes nine steps,
    and the library's counters cost more than most of the steps do.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "countersign_call_seconds", "From proposal to close, approvals included", ["outcome"], registry=self.registry
        )
        self._durations: dict[Outcome, Histogram] = {outcome: self._seconds.labels(outcome.value) for outcome in Outcome}
        self._steps = dict.fromkeys(Step, 0)
        self._closings: Counter[tuple[str, Outcome, Reason | None]] = Counter()
        self.connections = Gauge("countersign_connections", "Open agent sockets", registry=self.registry)
        self.registry.register(self)

    def step(self, step: Step, call_id: str) -> None:
        """Count one step."""
        self._steps[step] += 1

    def closed(self, tool: str, outcome: Outcome, reason: Reason | None, seconds: float) -> None:
        """Count one closed call. A tool name that is not published comes from a client, so it gets no series of its own."""
        self._closings["" if outcome is Outcome.UNKNOWN_TOOL else tool, outcome, reason] += 1
        self._durations[outcome].observe(seconds)

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The counts as series; called by the registry."""
        steps = CounterMetricFamily("countersign_steps", "Steps of dispatch taken", labels=["step"])
        for step, count in self._steps.items():
            steps.add_metric([step.value], count)
        yield steps
        calls = CounterMetricFamily("countersign_calls", "Closed tool calls", labels=["tool", "outcome", "reason"])
        for (tool, outcome, reason), count in self._closings.items():
            calls.add_metric([tool, outcome.value, reason.value if reason else ""], count)
        yield calls

    def render(self) -> bytes:
        """The exposition text."""
        return generate_latest(self.registry)
