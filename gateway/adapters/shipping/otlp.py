"""OTLP over HTTP in JSON (opentelemetry-proto 1.x): each record as a log record, each call that closed as a span and in a
histogram, named by OpenTelemetry's conventions for generative AI (Development).

Written here rather than by the SDK: its exporters drop what a collector does not take, and these records must not be lost. No
argument and no result is in any of them, unless the settings send payloads, which stand in the log record alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, cast

import aiohttp
import orjson

from gateway import __version__
from gateway.adapters.bounded_answers import read_answer
from gateway.adapters.shipping.records import ShippedRecord, SinkDown
from gateway.adapters.shipping.settings import OtlpSink, Signal
from gateway.core.canonical import Json
from gateway.core.ledger import CallClosed
from gateway.core.vocabulary import Outcome

_SECONDS: Final = 10.0
_ANSWER_LIMIT: Final = 65_536
_MS: Final = 1_000_000
"""Nanoseconds."""

_INFO: Final = 9
_INTERNAL: Final = 1
_OK, _ERROR = 1, 2
_DELTA: Final = 1

BOUNDS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""Seconds; those that the conventions ask for."""

Attributes = Mapping[str, str | int | bool | None]


class OtlpWriter:
    """Sends to one collector."""

    def __init__(self, settings: OtlpSink) -> None:
        self._settings = settings
        self._client: aiohttp.ClientSession | None = None

    def held(self) -> int:
        """None: a collector answers for what it took."""
        return 0

    def take_back(self) -> int:
        """None either."""
        return 0

    async def send(self, records: Sequence[ShippedRecord]) -> None:
        """All of them to each signal's address, or SinkDown. After a failure every signal is sent again."""
        closed = [record for record in records if record.body.get("event") == CallClosed.EVENT]
        for signal in self._settings.signals:
            match signal:
                case Signal.LOGS:
                    await self._post(signal, log_request(records))
                case Signal.TRACES:
                    await self._post(signal, trace_request(closed) if closed else None)
                case Signal.METRICS:
                    await self._post(signal, metric_request(closed) if closed else None)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _post(self, signal: Signal, request: Mapping[str, Any] | None) -> None:
        if request is None:
            return
        if self._client is None:
            headers = {name: value.get_secret_value() for name, value in self._settings.headers.items()}
            timeout = aiohttp.ClientTimeout(total=_SECONDS)
            self._client = aiohttp.ClientSession(headers={**headers, "content-type": "application/json"}, timeout=timeout)
        url = f"{self._settings.url.rstrip('/')}/v1/{signal}"
        try:
            async with self._client.post(url, data=orjson.dumps(request), allow_redirects=False) as answer:
                said = await read_answer(answer.content.iter_any(), _ANSWER_LIMIT)
                if answer.status != 200:
                    raise SinkDown(f"it answered {answer.status} to {signal}")
                _require_whole(said)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise SinkDown("it did not answer in time" if isinstance(error, TimeoutError) else "it cannot be reached") from None


def _require_whole(said: bytes) -> None:
    """Raises SinkDown where the collector took only some of it (`partial_success`)."""
    try:
        answer: Json = orjson.loads(said or b"{}")
    except orjson.JSONDecodeError:
        return
    partial = cast("dict[str, Json]", answer).get("partialSuccess") if isinstance(answer, dict) else None
    counts = cast("dict[str, Json]", partial).items() if isinstance(partial, dict) else ()
    # A number of 64 bits is text in this JSON.
    if any(str(count) != "0" for name, count in counts if name.startswith("rejected")):
        raise SinkDown("it refused some of the records")


# ── what is sent ──


def log_request(records: Sequence[ShippedRecord]) -> Mapping[str, Any]:
    """An ExportLogsServiceRequest."""
    return _wrap("resourceLogs", "scopeLogs", "logRecords", records, _log_record)


def trace_request(records: Sequence[ShippedRecord]) -> Mapping[str, Any]:
    """An ExportTraceServiceRequest, of calls that closed."""
    return _wrap("resourceSpans", "scopeSpans", "spans", records, _span)


def metric_request(records: Sequence[ShippedRecord]) -> Mapping[str, Any]:
    """An ExportMetricsServiceRequest, of calls that closed since the last one."""

    def histogram(_: ShippedRecord) -> Mapping[str, Any]:
        points = [_point(key, [each for each in records if _series(each) == key]) for key in sorted(set(map(_series, records)))]
        return {
            "name": "gen_ai.execute_tool.duration",
            "unit": "s",
            "histogram": {"aggregationTemporality": _DELTA, "dataPoints": points},
        }

    return _wrap("resourceMetrics", "scopeMetrics", "metrics", records[:1], histogram)


def _wrap(outer: str, inner: str, name: str, records: Sequence[ShippedRecord], write: Any) -> Mapping[str, Any]:
    resource = {"service.name": "countersign", "service.version": __version__, "service.instance.id": records[0].log}
    scope = {"scope": {"name": "countersign.audit", "version": __version__}, name: [write(record) for record in records]}
    return {outer: [{"resource": {"attributes": _attributes(resource)}, inner: [scope]}]}


def _log_record(record: ShippedRecord) -> Mapping[str, Any]:
    at = str(record.body["at"] * _MS)
    return {
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": _INFO,
        "severityText": "INFO",
        "eventName": f"countersign.{record.body['event']}",
        "body": {"stringValue": record.line().decode()},
        "attributes": _attributes({"log.record.uid": record.key, "countersign.leaf.hash": record.row.hash}),
        **_trace_of(record.body),
    }


def _span(record: ShippedRecord) -> Mapping[str, Any]:
    body = record.body
    outcome = body["outcome"]
    end = body["at"]
    return {
        **_trace_of(body),
        "name": "execute_tool" if body["tool"] is None else f"execute_tool {body['tool']}",
        "kind": _INTERNAL,
        "startTimeUnixNano": str((end - (body.get("durationMs") or 0)) * _MS),
        "endTimeUnixNano": str(end * _MS),
        "attributes": _attributes(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": body["tool"],
                "gen_ai.tool.call.id": body["callId"],
                "gen_ai.tool.type": "function",
                "gen_ai.conversation.id": body["conversationId"],
                "gen_ai.request.model": body.get("modelId"),
                "error.type": None if outcome == Outcome.OK else outcome,
                "countersign.decision": body["decision"],
                "countersign.reason": body.get("reason"),
                "countersign.record": record.key,
            }
        ),
        "status": {"code": _OK if outcome == Outcome.OK else _ERROR},
    }


def _trace_of(body: Mapping[str, Any]) -> Mapping[str, str]:
    """A trace is a turn and a span a call, the same whenever they are sent."""
    conversation, turn, call = body.get("conversationId"), body.get("turnId"), body.get("callId")
    if not (conversation and call):
        return {}
    return {
        "traceId": sha256(f"turn\n{conversation}\n{turn}".encode()).hexdigest()[:32],
        "spanId": sha256(f"call\n{conversation}\n{call}".encode()).hexdigest()[:16],
    }


def _series(record: ShippedRecord) -> tuple[str, str]:
    outcome = record.body["outcome"]
    # None is on record of a tool that is not there, or whose arguments were refused: its name is only a word of the model's.
    return (record.body["tool"] or "", "" if outcome == Outcome.OK else outcome)


def _point(key: tuple[str, str], records: Sequence[ShippedRecord]) -> Mapping[str, Any]:
    tool, error = key
    seconds = [(record.body.get("durationMs") or 0) / 1000 for record in records]
    bounds = [*BOUNDS, float("inf")]
    counts = [0] * len(bounds)
    for each in seconds:
        counts[next(place for place, bound in enumerate(bounds) if each <= bound)] += 1
    times = [record.body["at"] for record in records]
    return {
        "attributes": _attributes(
            {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool or None, "error.type": error or None}
        ),
        "startTimeUnixNano": str(min(times) * _MS),
        "timeUnixNano": str(max(times) * _MS),
        "count": str(len(seconds)),
        "sum": sum(seconds),
        "bucketCounts": [str(count) for count in counts],
        "explicitBounds": list(BOUNDS),
    }


def _attributes(values: Attributes) -> Sequence[Mapping[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in _known(values.items())]


def _known(pairs: Iterable[tuple[str, str | int | bool | None]]) -> Iterable[tuple[str, str | int | bool]]:
    return ((name, value) for name, value in pairs if value is not None)


def _value(value: str | int | bool) -> Mapping[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case str():
            return {"stringValue": value}
