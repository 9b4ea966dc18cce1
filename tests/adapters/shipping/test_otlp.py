"""What is sent to a collector is OTLP to OpenTelemetry's own reader, whatever came of the calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from gateway.adapters.shipping.otlp import log_request, metric_request, trace_request
from gateway.adapters.shipping.records import ShippedRecord
from gateway.runtime.ports import AuditRow
from tests.harness.otlp import read_request

Write = Callable[[Sequence[ShippedRecord]], Mapping[str, Any]]

WRITERS: Mapping[str, Write] = {"logs": log_request, "traces": trace_request, "metrics": metric_request}
ENDS: Sequence[tuple[str | None, str, str | None, int | None]] = (
    ("peek", "ok", None, 30),
    ("peek", "ok", None, 0),
    ("peek", "timedOut", "toolTimeout", 100_000),
    (None, "invalidArguments", "schema", None),
)


def closed_calls() -> list[ShippedRecord]:
    records: list[ShippedRecord] = []
    for index, (tool, outcome, reason, milliseconds) in enumerate(ENDS):
        ids = {"conversationId": "cnv_1", "turnId": "trn_1", "callId": f"c{index}"}
        end = {"tool": tool, "outcome": outcome, "reason": reason, "decision": "auto", "durationMs": milliseconds}
        body = {"event": "call:closed", "at": 1_795_000_000_000 + index, **ids, **end}
        records.append(ShippedRecord("log", AuditRow(index, f"{index:064}", body, {"result": "milk"}), with_payload=True))
    return records


@pytest.mark.parametrize("signal", WRITERS)
def test_opentelemetry_reads_every_member_of_what_is_sent(signal: str) -> None:
    sent = json.dumps(WRITERS[signal](closed_calls()))
    assert read_request(signal, sent.encode()).to_dict() == json.loads(sent)


SPOILT: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "an id in base64": lambda span: span.update(traceId="q83vq83vq83vq83vq83vqw=="),
    "a time that is no number": lambda span: span.update(endTimeUnixNano="soon"),
    "a member that OTLP has not": lambda span: span.update(outcome="ok"),
    "a kind that there is not": lambda span: span.update(kind=77),
    "an attribute that no convention names": lambda span: span["attributes"][0].update(key="gen_ai.tool.nickname"),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_collector_of_the_tests_takes_nothing_else(spoil: Callable[[dict[str, Any]], None]) -> None:
    request: Any = json.loads(json.dumps(trace_request(closed_calls())))
    spoil(request["resourceSpans"][0]["scopeSpans"][0]["spans"][0])
    with pytest.raises((AssertionError, TypeError, ValueError)):
        read_request("traces", json.dumps(request).encode())
