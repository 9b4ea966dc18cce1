"""OTLP in JSON as OpenTelemetry's own packages read it. What they refuse or pass over is none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final, cast

from opentelemetry.proto_json.collector.logs.v1.logs_service import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto_json.collector.metrics.v1.metrics_service import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto_json.collector.trace.v1.trace_service import ExportTraceServiceRequest, ExportTraceServiceResponse
from opentelemetry.proto_json.common.v1.common import KeyValue
from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes, log_attributes, service_attributes

Request = ExportLogsServiceRequest | ExportTraceServiceRequest | ExportMetricsServiceRequest

_SERVICES: Final = {
    "logs": (ExportLogsServiceRequest, ExportLogsServiceResponse),
    "traces": (ExportTraceServiceRequest, ExportTraceServiceResponse),
    "metrics": (ExportMetricsServiceRequest, ExportMetricsServiceResponse),
}
_OURS: Final = "countersign."
_NAMES: Final = frozenset(
    value
    for module in (error_attributes, gen_ai_attributes, log_attributes, service_attributes)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, str)
)
"""The attributes of OpenTelemetry's semantic conventions that ours may be."""


def read_request(signal: str, sent: bytes) -> Request:
    """What was sent, as OpenTelemetry understands it."""
    request = _SERVICES[signal][0].from_json(sent)
    # Unknown members are passed over, as the specification asks; then they would be missing here.
    assert request.to_dict() == json.loads(sent), "OpenTelemetry passes over some of it"
    unknown = {name for name in _names(request) if not name.startswith(_OURS)} - _NAMES
    assert not unknown, f"no attributes of OpenTelemetry's: {unknown}"
    return request


def answer(signal: str) -> str:
    """That all of it was taken."""
    return _SERVICES[signal][1]().to_json()


def values_of(attributes: list[KeyValue]) -> dict[str, str | int | bool | None]:
    """By name."""
    told: dict[str, str | int | bool | None] = {}
    for each in attributes:
        assert each.value is not None
        given = (each.value.string_value, each.value.int_value, each.value.bool_value)
        told[each.key or ""] = next((value for value in given if value is not None), None)
    return told


def _names(told: Any) -> Iterator[str]:
    """Of all attributes that are anywhere in it."""
    if isinstance(told, KeyValue):
        yield told.key or ""
    elif isinstance(told, list):
        for each in cast("list[Any]", told):
            yield from _names(each)
    elif is_dataclass(told):
        for member in fields(told):
            yield from _names(getattr(told, member.name))
