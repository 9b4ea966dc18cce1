"""Where a sink goes on: after a restart, a log that was put back, a connection that broke, and a file that was cut off."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from gateway.adapters.shipping import shipper
from gateway.adapters.shipping.file import FileWriter
from gateway.adapters.shipping.otlp import metric_request, trace_request
from gateway.adapters.shipping.places import PlaceFile, SinkPlace
from gateway.adapters.shipping.records import ShippedRecord, SinkDown
from gateway.adapters.shipping.settings import NamedSink, read_sinks
from gateway.adapters.shipping.syslog import SyslogWriter
from gateway.core.errors import LedgerUnavailable, Misconfigured
from gateway.runtime.ports import AuditRow
from tests.harness.log_receiver import certify

PATIENCE = 10.0


class Records:
    """A log of so many records."""

    def __init__(self, size: int, name: str = "a") -> None:
        self.rows = [AuditRow(index, f"{name}{index}", {"event": "turn:begun", "at": 1}, None) for index in range(size)]

    async def audit_at(self, positions: Sequence[int]) -> Sequence[AuditRow]:
        return [self.rows[each] for each in positions if each < len(self.rows)]


def sink_of(folder: Path) -> NamedSink:
    (made,) = read_sinks({"disk": {"kind": "file", "path": str(folder / "out.jsonl")}})
    return made


async def follow_to(folder: Path, records: Records, size: int, held: int = 0) -> list[int]:
    """What was written until the sink has so many records."""
    place = PlaceFile(folder, "disk")
    async with shipper.shipping([sink_of(folder)], records, "log", folder, lambda: 5), asyncio.timeout(PATIENCE):
        while place.read() != SinkPlace(size, records.rows[size - 1].hash, 5, held=held):
            await asyncio.sleep(0.01)
    return [json.loads(line)["index"] for line in (folder / "out.jsonl").read_text().splitlines()]


async def test_a_sink_goes_on_where_it_was_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipper, "AT_ONCE", 3)
    assert await follow_to(tmp_path, Records(7), 7) == list(range(7))
    assert await follow_to(tmp_path, Records(9), 9) == list(range(9))


async def test_a_log_that_is_another_one_is_sent_from_its_beginning(tmp_path: Path) -> None:
    await follow_to(tmp_path, Records(5), 5)
    assert await follow_to(tmp_path, Records(3, "b"), 3) == [0, 1, 2, 3, 4, 0, 1, 2]


async def test_a_place_that_cannot_be_read_is_the_beginning_and_one_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    file = PlaceFile(tmp_path, "disk")
    for damage in ("", "{}", "[1]", '{"next": "x", "last_hash": "", "sent_at": null, "fault": ""}'):
        (tmp_path / "sink-disk.json").write_text(damage)
        assert file.read() == SinkPlace()
    with pytest.raises(LedgerUnavailable):
        PlaceFile(tmp_path / "absent", "disk").write(SinkPlace())


async def test_a_sink_that_breaks_in_a_new_way_is_told_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    send, broke = FileWriter.send, asyncio.Event()

    async def break_once(self: FileWriter, records: Sequence[ShippedRecord]) -> None:
        if not broke.is_set():
            broke.set()
            # Nothing can be kept either: the disk of the state folder is full, say.
            monkeypatch.setattr(PlaceFile, "write", fail)
            raise RuntimeError("the handler is closed")
        monkeypatch.setattr(PlaceFile, "write", write)
        await send(self, records)

    def fail(*_: object) -> None:
        raise LedgerUnavailable("no room")

    write = PlaceFile.write
    monkeypatch.setattr(FileWriter, "send", break_once)
    assert await follow_to(tmp_path, Records(3), 3) == [0, 1, 2]
    assert broke.is_set()


async def test_what_a_sink_held_open_is_closed_before_it_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    send, closed = FileWriter.send, asyncio.Event()

    async def break_until_closed(self: FileWriter, records: Sequence[ShippedRecord]) -> None:
        if not closed.is_set():
            raise RuntimeError("the handler is closed")
        await send(self, records)

    async def close(_: FileWriter) -> None:
        closed.set()

    monkeypatch.setattr(shipper, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(FileWriter, "send", break_until_closed)
    monkeypatch.setattr(FileWriter, "close", close)
    assert await follow_to(tmp_path, Records(3), 3) == [0, 1, 2]


class ResetConnection:
    """What uvloop's transport is after a write behind the last one was answered by a reset."""

    def write(self, _: bytes) -> None:
        raise RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")

    def is_closing(self) -> bool:
        return True

    def close(self) -> None:
        """It is closed already."""


async def test_a_connection_that_was_reset_is_told_and_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = 0

    async def open_connection(*_: object, **__: object) -> tuple[asyncio.StreamReader, ResetConnection]:
        nonlocal opened
        opened += 1
        reader = asyncio.StreamReader()
        reader.set_exception(ConnectionResetError())
        return reader, ResetConnection()

    monkeypatch.setattr(asyncio, "open_connection", open_connection)
    (sink,) = read_sinks({"siem": {"kind": "syslog", "host": "127.0.0.1", "port": 1, "tls": False}})
    writer = SyslogWriter(sink.settings)  # pyright: ignore[reportArgumentType] - it is one of syslog
    for times in (1, 2):
        with pytest.raises(SinkDown, match="it closed the connection"):
            await writer.send([])
        assert opened == times


async def test_a_certificate_whose_key_takes_a_password_is_said_and_nobody_is_asked_for_it(tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    made = certify(tmp_path / "mine.pem").certificate.public_bytes(Encoding.PEM)
    (tmp_path / "mine.pem").write_bytes(made + secret)
    table = {"kind": "syslog", "host": "127.0.0.1", "port": 1, "certificate": str(tmp_path / "mine.pem")}
    (sink,) = read_sinks({"siem": table})
    with pytest.raises(SinkDown, match="TLS failed"):
        await SyslogWriter(sink.settings).send([])  # pyright: ignore[reportArgumentType] - it is one of syslog


async def test_a_line_that_was_cut_off_stays_by_itself(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text('{"cut')
    await FileWriter(tmp_path / "out.jsonl").send([ShippedRecord("log", Records(1).rows[0], with_payload=False)])
    cut, whole = (tmp_path / "out.jsonl").read_text().splitlines()
    assert (cut, json.loads(whole)["key"]) == ('{"cut', "log/0")
    with pytest.raises(SinkDown):
        await FileWriter(tmp_path / "absent" / "out").send([])


async def test_what_a_broken_connection_may_have_held_is_sent_again(tmp_path: Path) -> None:
    taken = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        taken.set()
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    (sink,) = read_sinks({"siem": {"kind": "syslog", "host": "127.0.0.1", "port": port, "tls": False}})
    writer = SyslogWriter(sink.settings)  # pyright: ignore[reportArgumentType] - it is one of syslog
    records = [ShippedRecord("log", row, with_payload=False) for row in Records(4).rows]
    await writer.send(records)
    await taken.wait()
    async with asyncio.timeout(PATIENCE):
        with contextlib.suppress(SinkDown):
            while True:
                await writer.send(records[:1])
                await asyncio.sleep(0)
    assert writer.take_back() >= 4
    assert writer.take_back() == 0
    server.close()


def hold(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """As if a file were a connection that holds so many records."""

    def held(_: FileWriter) -> int:
        return count

    monkeypatch.setattr(FileWriter, "held", held)


async def test_what_a_process_that_was_killed_may_have_held_is_sent_again_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(monkeypatch, 2)
    assert await follow_to(tmp_path, Records(5), 5, held=2) == [0, 1, 2, 3, 4]
    # The first process ended without a word.
    hold(monkeypatch, 0)
    assert await follow_to(tmp_path, Records(6), 6) == [0, 1, 2, 3, 4, 3, 4, 5]


async def test_a_log_that_is_put_back_after_a_broken_connection_is_sent_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(monkeypatch, 2)
    lane = shipper.SinkLane(sink_of(tmp_path), Records(5), "log", PlaceFile(tmp_path, "disk"), lambda: 5)
    await lane.step()
    await lane.fail("it closed the connection")
    assert PlaceFile(tmp_path, "disk").read() == SinkPlace(3, "a2", 5, "it closed the connection")
    hold(monkeypatch, 0)
    assert await follow_to(tmp_path, Records(2, "b"), 2) == [0, 1, 2, 3, 4, 0, 1]


def test_durations_are_counted_by_tool_and_error() -> None:
    def closed(index: int, outcome: str, milliseconds: int) -> ShippedRecord:
        body = {"event": "call:closed", "at": 10 + index, "tool": "peek", "outcome": outcome, "durationMs": milliseconds}
        return ShippedRecord("log", AuditRow(index, "", body, None), with_payload=False)

    request: Any = metric_request([closed(0, "ok", 5), closed(1, "ok", 100_000), closed(2, "timedOut", 10)])
    (metric,) = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    ok, timed_out = metric["histogram"]["dataPoints"]
    assert (ok["count"], ok["sum"], ok["bucketCounts"][0], ok["bucketCounts"][-1]) == ("2", 100.005, "1", "1")
    assert {"key": "error.type", "value": {"stringValue": "timedOut"}} in timed_out["attributes"]


def test_a_call_without_a_tool_on_record_is_counted_beside_the_others() -> None:
    def closed(index: int, tool: str | None, outcome: str) -> ShippedRecord:
        ids = {"conversationId": "cnv_1", "turnId": "trn_1", "callId": f"c{index}"}
        body = {"event": "call:closed", "at": 10, "tool": tool, "outcome": outcome, "decision": "auto", "durationMs": 1, **ids}
        return ShippedRecord("log", AuditRow(index, "", body, None), with_payload=False)

    calls = [closed(0, "peek", "ok"), closed(1, None, "invalidArguments"), closed(2, None, "unknownTool")]
    metrics: Any = metric_request(calls)
    points = metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["histogram"]["dataPoints"]
    assert [point["count"] for point in points] == ["1", "1", "1"]
    traces: Any = trace_request(calls)
    spans = traces["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [span["name"] for span in spans] == ["execute_tool peek", "execute_tool", "execute_tool"]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"kind": "ftp"}, "ftp"),
        ({"kind": "file"}, "`path`"),
        ({"kind": "file", "path": "x", "nonsense": 1}, "`nonsense`"),
        ({"kind": "otlp", "url": "ftp://x"}, "`url`"),
        ({"kind": "otlp", "url": "http://x", "signals": ["smoke"]}, "`signals.0`"),
        ({"kind": "syslog", "host": "x", "port": 0}, "`port`"),
    ],
)
def test_a_wrong_table_is_named_with_what_is_wrong_in_it(table: dict[str, Any], said: str) -> None:
    with pytest.raises(Misconfigured, match=r"\[sinks\.siem\]") as refused:
        read_sinks({"siem": table})
    assert said.strip("`") in refused.value.message


def test_the_name_of_a_sink_names_no_other_file() -> None:
    with pytest.raises(Misconfigured, match="a sink's name"):
        read_sinks({"../../etc": {"kind": "file", "path": "x"}})
