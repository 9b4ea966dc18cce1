"""What a scrape shows of what was counted."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from gateway.adapters.telemetry.metrics import Metrics
from gateway.core.vocabulary import Outcome
from gateway.runtime.ports import Step


def scrape(metrics: Metrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text, content_type = metrics.render()
    assert content_type.startswith("text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def labels(**pairs: str) -> frozenset[tuple[str, str]]:
    return frozenset(pairs.items())


def test_a_duration_counts_in_every_bucket_that_it_fits_in() -> None:
    metrics = Metrics()
    for seconds in (0.005, 0.3, 60.0):
        metrics.closed("read_file", Outcome.OK, None, seconds)
    shown = scrape(metrics)

    def bucket(bound: str) -> float:
        return shown["countersign_call_seconds_bucket", labels(outcome="ok", le=bound)]

    assert (bucket("0.005"), bucket("0.25"), bucket("0.5"), bucket("10.0"), bucket("+Inf")) == (1, 1, 2, 2, 3)
    assert shown["countersign_call_seconds_count", labels(outcome="ok")] == 3
    assert shown["countersign_call_seconds_sum", labels(outcome="ok")] == 60.305


def test_steps_calls_and_requests_are_counted_by_their_labels() -> None:
    metrics = Metrics()
    metrics.step(next(iter(Step)), "call")
    metrics.closed("read_file", Outcome.OK, None, 0.1)
    metrics.count_request("health:read", 200)
    metrics.count_request("health:read", 200)
    shown = scrape(metrics)
    assert shown["countersign_steps_total", labels(step=next(iter(Step)).value)] == 1
    assert shown["countersign_calls_total", labels(tool="read_file", outcome="ok", reason="")] == 1
    assert shown["countersign_http_requests_total", labels(tag="health:read", status="200")] == 2


def test_a_name_that_a_client_made_up_gets_no_series_of_its_own() -> None:
    metrics = Metrics()
    metrics.closed("made up", Outcome.UNKNOWN_TOOL, None, 0.1)
    assert b"made up" not in metrics.render()[0]


def test_two_gateways_in_one_process_do_not_share_counts() -> None:
    one, other = Metrics(), Metrics()
    one.count_request("health:read", 200)
    assert b'tag="health:read"' not in other.render()[0]
