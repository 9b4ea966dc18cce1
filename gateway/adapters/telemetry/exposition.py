"""The counts in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from gateway.adapters.telemetry.metrics import BOUNDS, Metrics


def expose(metrics: Metrics) -> tuple[bytes, str]:
    """The text and its content type. The registry is made anew, so that two gateways in one process do not share counts."""
    registry = CollectorRegistry()
    registry.register(_Series(metrics))
    return generate_latest(registry), CONTENT_TYPE_LATEST


class _Series(Collector):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """Called by the registry."""
        metrics = self._metrics
        steps = CounterMetricFamily("countersign_steps", "Steps of dispatch taken", labels=["step"])
        for step, count in metrics.steps.items():
            steps.add_metric([step.value], count)
        yield steps
        calls = CounterMetricFamily("countersign_calls", "Closed tool calls", labels=["tool", "outcome", "reason"])
        for (tool, outcome, reason), count in metrics.closings.items():
            calls.add_metric([tool, outcome.value, reason.value if reason else ""], count)
        yield calls
        seconds = HistogramMetricFamily(
            "countersign_call_seconds", "From proposal to close, approvals included", labels=["outcome"]
        )
        for outcome, durations in metrics.durations.items():
            counts = accumulate(durations.buckets)
            names = [*map(str, BOUNDS), "+Inf"]
            seconds.add_metric([outcome.value], [*zip(names, counts, strict=True)], durations.total)
        yield seconds
        requests = CounterMetricFamily("countersign_http_requests", "Requests by route tag and status", labels=["tag", "status"])
        for (tag, status), count in metrics.requests.items():
            requests.add_metric([tag, str(status)], count)
        yield requests
