"""Prometheus metrics: counts and durations, never arguments, names of people or conversations."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from gateway.core.vocabulary import Outcome, Reason
from gateway.runtime.ports import Step


class Metrics:
    """The Observer port over one registry of its own, so that two gateways in one process do not share counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter("countersign_calls", "Closed tool calls", ["tool", "outcome", "reason"], registry=self.registry)
        self._seconds = Histogram(
            "countersign_call_seconds", "From proposal to close, approvals included", ["outcome"], registry=self.registry
        )
        self._steps = Counter("countersign_steps", "Steps of dispatch taken", ["step"], registry=self.registry)
        # Children are looked up once: `labels()` takes a lock, and every call takes nine steps.
        self._by_step = {step: self._steps.labels(step.value) for step in Step}
        self._closings: dict[tuple[str, Outcome, Reason | None], Counter] = {}
        self._durations: dict[Outcome, Histogram] = {outcome: self._seconds.labels(outcome.value) for outcome in Outcome}
        self.connections = Gauge("countersign_connections", "Open agent sockets", registry=self.registry)

    def step(self, step: Step, call_id: str) -> None:
        """Count one step."""
        self._by_step[step].inc()

    def closed(self, tool: str, outcome: Outcome, reason: Reason | None, seconds: float) -> None:
        """Count one closed call. A tool name that is not published comes from a client, so it gets no series of its own."""
        key = ("" if outcome is Outcome.UNKNOWN_TOOL else tool, outcome, reason)
        counter = self._closings.get(key)
        if counter is None:
            counter = self._closings[key] = self._calls.labels(key[0], outcome.value, reason.value if reason else "")
        counter.inc()
        self._durations[outcome].observe(seconds)

    def render(self) -> bytes:
        """The exposition text."""
        return generate_latest(self.registry)
