"""The log is sent off the host as it happens: a sink that is down loses nothing and holds nobody up."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.proto_json.trace.v1.trace import Span, Status

from tests.harness.otlp import answer, read_request, values_of
from tests.harness.process import free_port
from tests.harness.witness import Witness
from tests.scenarios.staging import stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE = 30.0


@dataclass
class Collector:
    """A collector that reads with OpenTelemetry's own package, and a syslog server. They can be away."""

    port: int = field(default_factory=free_port)
    syslog_port: int = field(default_factory=free_port)
    requests: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    refused: list[str] = field(default_factory=list[str])
    messages: list[str] = field(default_factory=list[str])
    came: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def there(self, context: ssl.SSLContext) -> AsyncGenerator[None]:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/{signal}", self._take)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        server = await asyncio.start_server(self._listen, "127.0.0.1", self.syslog_port, ssl=context)
        try:
            yield
        finally:
            server.close()
            await runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        assert request.headers["x-key"] == "secret"
        signal = request.match_info["signal"]
        try:
            read = read_request(signal, await request.read())
        except (AssertionError, TypeError, ValueError) as error:
            self.refused.append(f"{signal}: {error}")
            raise web.HTTPBadRequest from error
        finally:
            self.came.set()
        self.requests.setdefault(signal, []).append(read)
        return web.Response(text=answer(signal), content_type="application/json")

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                length = int((await reader.readuntil(b" ")).decode())
                self.messages.append((await reader.readexactly(length)).decode())
                self.came.set()
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    def items(self, signal: str, *path: str) -> list[Any]:
        outer, inner, name = path
        assert not self.refused
        return [
            item
            for request in self.requests.get(signal, [])
            for resource in getattr(request, outer)
            for scope in getattr(resource, inner)
            for item in getattr(scope, name)
        ]

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(each.body.string_value) for each in self.items("logs", "resource_logs", "scope_logs", "log_records")]

    def spoken(self) -> list[dict[str, Any]]:
        return [json.loads(message[message.index("{") :]) for message in self.messages]


def certificate(folder: Path) -> ssl.SSLContext:
    key, crt = folder / "key.pem", folder / "crt.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*made, "-keyout", key, "-out", crt, *subject], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(crt, key)
    return context


async def until(collector: Collector, done: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not done():
            collector.came.clear()
            await collector.came.wait()


@pytest.mark.requirement("002-71", "records leave the host as they come, and none is lost while a sink is down")
async def test_what_a_sink_missed_while_it_was_down_comes_when_it_is_back(tmp_path: Path) -> None:
    collector, context = Collector(), certificate(tmp_path)
    sinks = {
        "disk": {"kind": "file", "path": str(tmp_path / "shipped.jsonl")},
        "siem": {"kind": "syslog", "host": "localhost", "port": collector.syslog_port, "ca": str(tmp_path / "crt.pem")},
        "otel": {"kind": "otlp", "url": f"http://127.0.0.1:{collector.port}", "headers": {"x-key": "secret"}},
        "stranger": {"kind": "syslog", "host": "localhost", "port": collector.syslog_port},
    }
    anchors = {
        "copy": {"kind": "file", "path": str(tmp_path / "anchored"), "minutes": 0.005},
        "away": {"kind": "cosigner", "url": f"http://127.0.0.1:{free_port()}", "key": Witness().line()},
    }
    settings = {"COUNTERSIGN_SINKS": json.dumps(sinks), "COUNTERSIGN_ANCHORS": json.dumps(anchors)}
    async with stage(tmp_path, **settings) as scene:
        turn = await scene.begin()
        # Both are away, and calls run all the same.
        assert (await turn.invoke("peek", {"what": "very secret milk"}, "while-down"))["outcome"] == "ok"
        await scene.gateway.wait_for(re.compile("sink `otel` takes no records: it cannot be reached"))
        code, said = await scene.gateway.run("audit", "sinks")
        assert (code, "otel: otlp, 0 records sent" in said) == (1, True)
        told = {each["name"]: each for each in (await scene.console.call("audit/sinks"))["sinks"]}
        assert (told["otel"]["sent"], told["otel"]["fault"]) == (0, "it cannot be reached")
        assert told["otel"]["behind"] > 0
        # An anchor that is away holds nobody up either, and the other one has what `audit verify` compares the log with.
        await scene.gateway.wait_for(re.compile("anchor `away` takes no checkpoint: it cannot be reached"))
        anchored = {each["name"]: each for each in (await scene.console.call("audit/sinks"))["anchors"]}
        assert (anchored["away"]["size"], anchored["away"]["fault"]) == (0, "it cannot be reached")
        assert anchored["copy"]["size"] > 0
        code, said = await scene.gateway.run("audit", "anchors")
        assert (code, "copy: file, " in said, "rests on this host alone" in said) == (1, True, True)
        code, said = await scene.gateway.run("audit", "verify", "--checkpoint", str(tmp_path / "anchored"))
        assert (code, "records are those of the checkpoint that was passed" in said) == (0, True), said
        async with collector.there(context):
            await until(collector, lambda: closed("while-down", collector.logged()) and closed("while-down", collector.spoken()))
            assert (await turn.invoke("peek", {"what": "very secret milk"}, "while-up"))["outcome"] == "ok"
            await until(collector, lambda: closed("while-up", collector.logged()) and closed("while-up", collector.spoken()))
            await until(collector, lambda: "while-up" in spans_of(collector) and "metrics" in collector.requests)
        await scene.gateway.wait_for(re.compile("sink `stranger` takes no records: its certificate is not trusted"))
        exported = tmp_path / "log.jsonl"
        assert (await scene.gateway.run("audit", "export", str(exported)))[0] == 0
    leaves = [json.loads(line) for line in exported.read_text().splitlines() if line.startswith('{"type":"leaf"')]
    written = [json.loads(line) for line in (tmp_path / "shipped.jsonl").read_text().splitlines()]
    for shipped in (collector.logged(), collector.spoken(), written):
        # Once at least: each record by its key, with the hash that the log has.
        by_index = {each["index"]: each for each in shipped}
        assert sorted(by_index) == list(range(len(by_index)))
        for leaf in leaves[: len(by_index)]:
            assert (by_index[leaf["index"]]["hash"], by_index[leaf["index"]]["body"]) == (leaf["hash"], leaf["body"])
        assert "very secret milk" not in json.dumps(shipped)
    assert "very secret milk" not in repr(collector.requests)
    logs = collector.items("logs", "resource_logs", "scope_logs", "log_records")
    assert [values_of(each.attributes)["log.record.uid"] for each in logs] == [each["key"] for each in collector.logged()]
    senders = [each.resource for request in collector.requests["logs"] for each in request.resource_logs]
    assert {values_of(each.attributes)["service.name"] for each in senders} == {"countersign"}
    header = collector.messages[0].partition("{")[0]
    assert re.fullmatch(r'<109>1 \S+Z \S+ countersign \d+ \S+ \[record@32473 index="0" hash="[0-9a-f]{64}"\] ', header)


def closed(call_id: str, records: list[dict[str, Any]]) -> bool:
    """Whether the end of that call is among them."""
    return any((each["body"]["event"], each["body"].get("callId")) == ("call:closed", call_id) for each in records)


def spans_of(collector: Collector) -> dict[str, dict[str, Any]]:
    """The attributes of each span by its call."""
    spans = collector.items("traces", "resource_spans", "scope_spans", "spans")
    attributes = [values_of(span.attributes) for span in spans]
    for span, told in zip(spans, attributes, strict=True):
        assert (span.name, told["gen_ai.operation.name"]) == (f"execute_tool {told['gen_ai.tool.name']}", "execute_tool")
        assert (len(span.trace_id), len(span.span_id), span.kind) == (16, 8, Span.SpanKind.SPAN_KIND_INTERNAL)
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
        assert span.status.code == Status.StatusCode.STATUS_CODE_OK
        assert not any(name.startswith("gen_ai.tool.call.") and name != "gen_ai.tool.call.id" for name in told)
    metrics = collector.items("metrics", "resource_metrics", "scope_metrics", "metrics")
    for point in (point for metric in metrics for point in metric.histogram.data_points):
        assert point.count == sum(point.bucket_counts)
        assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
    return {str(told["gen_ai.tool.call.id"]): told for told in attributes}
