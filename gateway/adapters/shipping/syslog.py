"""Syslog (RFC 5424) over TLS or TCP, each message led by its length (RFC 5425 section 4.3, RFC 6587 section 3.4.1)."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Sequence
from typing import Final

from gateway.adapters.shipping.records import ShippedRecord, SinkDown
from gateway.adapters.shipping.settings import SyslogSink
from gateway.core.times import rfc3339

_PRIORITY: Final = 13 * 8 + 5
"""Facility 13, log audit; severity 5, notice (RFC 5424 section 6.2.1)."""

_SECONDS: Final = 10.0

_IN_FLIGHT: Final = 1_000
"""Syslog has no acknowledgement: what a connection held when it broke may have reached nobody. So many records are sent again
after one, which is more than the buffers of both ends hold of the smallest."""


class SyslogWriter:
    """Keeps one connection."""

    def __init__(self, settings: SyslogSink) -> None:
        self._settings = settings
        self._host = socket.gethostname().replace(" ", "-")[:255] or "-"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._sent = 0

    def held(self) -> int:
        """Those of the connection, in the buffers of both ends."""
        return min(self._sent, _IN_FLIGHT)

    def take_back(self) -> int:
        """Those of the connection that broke."""
        again, self._sent = self.held(), 0
        return again

    async def send(self, records: Sequence[ShippedRecord]) -> None:
        """All of them, or SinkDown."""
        try:
            async with asyncio.timeout(_SECONDS):
                reader, writer = self._streams or await self._connect()
                # A server never answers. One that has closed is noticed here rather than by the second write after it.
                # One that was reset has no end: its error is the reader's, and uvloop's writer raises one of no such kind.
                if reader.at_eof() or reader.exception() is not None or writer.is_closing():
                    raise ConnectionResetError
                writer.write(b"".join(map(self._frame, records)))
                await writer.drain()
                self._sent += len(records)
        except (OSError, TimeoutError, ValueError) as error:
            await self.close()
            raise SinkDown(_describe(error)) from None

    async def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        wanted = self._settings
        context = _secure(wanted) if wanted.tls else None
        self._streams = await asyncio.open_connection(wanted.host, wanted.port, ssl=context)
        self._sent = 0
        return self._streams

    def _frame(self, record: ShippedRecord) -> bytes:
        at, event = record.body.get("at"), str(record.body.get("event", "-"))
        when = rfc3339(at) if isinstance(at, int) else "-"
        header = f"<{_PRIORITY}>1 {when} {self._host} countersign {os.getpid()} {event[:32]} "
        # RFC 5424 section 6.3.3; 32473 is the number for examples and private use (RFC 5612).
        data = f'[record@32473 index="{record.row.index}" hash="{record.row.hash}"] '
        message = header.encode() + data.encode() + record.line()
        return b"%d %b" % (len(message), message)


def _secure(wanted: SyslogSink) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=wanted.ca)
    if wanted.certificate is not None:
        # Without a password OpenSSL would ask for one on the terminal.
        context.load_cert_chain(wanted.certificate, password="")
    return context


def _describe(error: Exception) -> str:
    match error:
        case TimeoutError():
            return "it did not answer in time"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted: {error.verify_message}"
        case ssl.SSLError():
            return "TLS failed"
        case ConnectionResetError():
            return "it closed the connection"
        case OSError():
            return error.strerror or "it cannot be reached"
        case _:
            return "it cannot be reached"
