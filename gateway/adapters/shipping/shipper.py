"""Reading on in the log for each sink, and sending what is new."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol, assert_never

from gateway.adapters.shipping.file import FileWriter
from gateway.adapters.shipping.otlp import OtlpWriter
from gateway.adapters.shipping.places import PlaceFile, SinkPlace
from gateway.adapters.shipping.records import ShippedRecord, Sink, SinkDown
from gateway.adapters.shipping.settings import FileSink, NamedSink, OtlpSink, SyslogSink
from gateway.adapters.shipping.syslog import SyslogWriter
from gateway.core.errors import LedgerUnavailable
from gateway.runtime.ports import AuditRow

AT_ONCE: Final = 200
"""Records that are read and sent in one step."""

LOOK_SECONDS: Final = 1.0
"""Between two looks for what is new."""

REST_SECONDS: Final = 0.02
"""Between two steps of a sink that is behind: calls that run need the interpreter too."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before a sink that is down is tried again, doubled each time."""

UNFORESEEN: Final = "it broke in a way that nobody foresaw; the gateway's own log says more"

_log = logging.getLogger(__name__)


class RecordReader(Protocol):
    """The part of the records that is read."""

    async def audit_at(self, positions: Sequence[int]) -> Sequence[AuditRow]: ...


class SinkLane:
    """One sink, and how far it is."""

    def __init__(self, sink: NamedSink, records: RecordReader, log: str, file: PlaceFile, now: Callable[[], int]) -> None:
        self._name = sink.name
        self._with_payload = sink.settings.payloads
        self._sink = open_sink(sink)
        self._records = records
        self._log = log
        self._file = file
        self._now = now
        self._place = file.read()

    async def follow(self) -> None:
        """Send what is new, until cancelled."""
        wait = FIRST_WAIT
        try:
            await self._check_place()
            # Nobody knows what became of the connection of the process before.
            self._place = await self._before(self._place.held)
            while True:
                try:
                    sent = await self.step()
                except SinkDown as down:
                    await self.fail(str(down))
                    await asyncio.sleep(wait)
                    wait = min(wait * 2, LONGEST_WAIT)
                except LedgerUnavailable as error:
                    _log.warning("%s", error.message)
                    await asyncio.sleep(LONGEST_WAIT)
                except Exception as error:  # noqa: BLE001 - whatever broke, the operator is told, and it is tried again
                    if self._place.fault != UNFORESEEN:
                        _log.error("sink `%s` broke", self._name, exc_info=error)
                    await self.fail(UNFORESEEN)
                    # What it holds open may be what broke, and would break again each time.
                    await self._sink.close()
                    await asyncio.sleep(wait)
                    wait = min(wait * 2, LONGEST_WAIT)
                else:
                    wait = FIRST_WAIT
                    await asyncio.sleep(REST_SECONDS if sent == AT_ONCE else LOOK_SECONDS)
        finally:
            await self._sink.close()

    async def _check_place(self) -> None:
        """A log that was put back to an earlier time, or is another one, is sent from its beginning."""
        place = self._place
        if not place.last_hash:
            return
        before = await self._records.audit_at([place.next - 1])
        if not before or before[0].hash != place.last_hash:
            _log.warning("the log is not the one that sink `%s` was sent; it is sent again from its beginning", self._name)
            self._place = SinkPlace()

    async def step(self) -> int:
        """Send the next records; how many they were. Raises SinkDown, and whatever else breaks."""
        rows = await self._records.audit_at(range(self._place.next, self._place.next + AT_ONCE))
        if not rows:
            return 0
        await self._sink.send([ShippedRecord(self._log, row, self._with_payload) for row in rows])
        if self._place.fault:
            _log.info("sink `%s` takes records again", self._name)
        # Only after the sink has them: what is sent twice can be told by its key, what is not sent at all cannot.
        self._keep(SinkPlace(rows[-1].index + 1, rows[-1].hash, self._now(), held=self._sink.held()))
        return len(rows)

    async def fail(self, fault: str) -> None:
        """Keep why nothing is taken, and go back to what may be lost."""
        if fault != self._place.fault:
            _log.warning("sink `%s` takes no records: %s", self._name, fault)
        place = await self._before(self._sink.held())
        # After that look: if this ends meanwhile, the file still says what may be lost.
        self._sink.take_back()
        self._keep(replace(place, fault=fault))

    async def _before(self, count: int) -> SinkPlace:
        """The place so many records earlier, with the hash of the record before it: the log may be put back meanwhile."""
        place = self._place
        if count == 0:
            return place
        next_ = max(place.next - count, 0)
        try:
            before = await self._records.audit_at([next_ - 1]) if next_ else ()
        except LedgerUnavailable:
            # Not compared then.
            before = ()
        return replace(place, next=next_, last_hash=before[0].hash if before else "", held=0)

    def _keep(self, place: SinkPlace) -> None:
        self._place = place
        try:
            self._file.write(place)
        except LedgerUnavailable as error:
            _log.warning("%s", error.message)


def open_sink(sink: NamedSink) -> Sink:
    """What writes to it. Nothing is opened yet."""
    match sink.settings:
        case FileSink():
            return FileWriter(sink.settings.path)
        case SyslogSink():
            return SyslogWriter(sink.settings)
        case OtlpSink():
            return OtlpWriter(sink.settings)
        case _:
            assert_never(sink.settings)


@asynccontextmanager
async def shipping(
    sinks: Sequence[NamedSink], records: RecordReader, log: str, state: Path, now: Callable[[], int]
) -> AsyncGenerator[None]:
    """Every sink is followed while the context lasts."""
    lanes = [SinkLane(sink, records, log, PlaceFile(state, sink.name), now) for sink in sinks]
    tasks = [asyncio.create_task(lane.follow()) for lane in lanes]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
