"""The listening side: uvicorn, with the limits that it lacks (docs/SECURITY.md case 26)."""

from __future__ import annotations

import asyncio
import re
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from gateway.server.transport import SocketProtocol

HEADER_SECONDS = 10.0
"""Seconds from the first byte of a request, or the connection's start, to the end of its headers. uvicorn has no such limit."""

HEADER_OCTETS = 32 * 1024
"""Bytes of target and headers together; nginx allows 4 times 8 KiB. httptools has no such limit."""

STALLED_SECONDS = 10.0
"""Seconds in which a peer reads something of what waits for it; a WebSocket that does not is closed as soon."""

PARTING_SECONDS = 2.0
"""Seconds that a peer has for the rest of its answer once the gateway stops and everything else is done."""

CONNECTIONS = 4096
MESSAGE_OCTETS = 256 * 1024
"""Bytes of one WebSocket message; docs/PROTOCOL.md section 2."""

PING_SECONDS = 20.0
KEEP_ALIVE_SECONDS = 5

REQUESTS_AHEAD = 32
"""Requests that may wait behind the one that is answered. Browsers send none before they have their answer."""

MUCH_AT_ONCE = 16 * 1024
"""Bytes, after which everybody else's turn comes. In pieces of one octet or requests of a line they are thousands of steps."""


class LimitedHttp(HttpToolsProtocol):
    """HTTP/1.1 with a limit of time and size for the headers, of time for what asks nothing, and of time for a peer that does not
    read. Input that is not HTTP gets the usual error shape too."""

    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _header_octets = 0
    _is_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """asyncio.Protocol."""
        super().connection_made(transport)
        self._start_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio.Protocol."""
        self._stop_waiting()
        self._stop_watching()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """asyncio.Protocol: the peer reads more slowly than the answer comes. uvicorn alone waits for it for ever."""
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """asyncio.Protocol."""
        self._stop_watching()
        super().resume_writing()

    def shutdown(self) -> None:
        """Called by uvicorn when the gateway stops, which waits until each connection is closed."""
        super().shutdown()
        self._stop_watching()
        self._stall = self.loop.call_later(PARTING_SECONDS, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        """asyncio.Protocol. What comes after an answer and begins no request, such as the rest of a body that nobody wanted or
        empty lines, makes uvicorn forget that the connection is idle."""
        super().data_received(data)
        cycle = cast("RequestResponseCycle | None", self.cycle)
        is_idle = cycle is None or cycle.response_complete
        if is_idle and self._deadline is None and self.transport.get_protocol() is self:
            self._start_waiting()
        if len(data) >= MUCH_AT_ONCE and self._may_read():
            # The loop reads a connection up to thirty times before it turns to another one.
            self.transport.pause_reading()
            self.loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        if self._may_read():
            self.transport.resume_reading()

    def _may_read(self) -> bool:
        """Not after an upgrade, and not while the application has enough of a body."""
        return not (self.flow.read_paused or self.transport.is_closing() or self.transport.get_protocol() is not self)

    def on_message_begin(self) -> None:
        """httptools: the first byte of a request."""
        if len(self.pipeline) >= REQUESTS_AHEAD:
            raise _TooManyAhead
        super().on_message_begin()
        self._header_octets = 0
        self._is_body = False
        self._start_waiting()

    def on_url(self, url: bytes) -> None:
        """httptools: a part of the target."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """httptools: one header, or a field behind the body (RFC 9110 section 6.5.1), which is none of the request."""
        self._count(len(name) + len(value))
        if not self._is_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """httptools: the end of the headers. A target with a host (RFC 9112 section 3.2.2) may name no other one than the
        Host header, by which a request is judged."""
        self._stop_waiting()
        if not self.url.startswith(b"/") and self._names_another_host():
            raise _TwoHosts
        self._is_body = True
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn when httptools, or one of the callbacks above, refuses the input."""
        body = b'{"error":{"code":"bad_request","message":"this is not an HTTP request that can be read"}}'
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        self.transport.write(head % len(body) + body)
        self.transport.close()

    def _names_another_host(self) -> bool:
        scheme, separator, rest = self.url.partition(b"://")
        if not separator or scheme.lower() not in (b"http", b"https"):
            return True
        hosts = [value.lower() for name, value in self.headers if name == b"host"]
        return hosts != [re.split(rb"[/?#]", rest, maxsplit=1)[0].lower()]

    def _count(self, octets: int) -> None:
        self._header_octets += octets
        if self._header_octets > HEADER_OCTETS:
            raise _HeadersTooLarge

    def _start_waiting(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _watch(self, unread: int) -> None:
        self._stop_watching()
        self._stall = self.loop.call_later(STALLED_SECONDS, self._look_again, unread)

    def _look_again(self, before: int) -> None:
        unread = self.transport.get_write_buffer_size()
        if unread < before:
            self._watch(unread)
        else:
            self.transport.abort()

    def _stop_watching(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()


class _HeadersTooLarge(Exception):
    pass


class _TwoHosts(Exception):
    pass


class _TooManyAhead(Exception):
    pass


def listener(app: ASGIApp, *, host: str, port: int, connections: int = CONNECTIONS) -> uvicorn.Config:
    """The configuration of uvicorn. Port 0 takes a free one.

    Proxy headers are not trusted: only `/metrics` depends on the peer's address, and it refuses requests that have such
    headers.
    """
    options: dict[str, Any] = {
        "http": LimitedHttp,
        "ws": SocketProtocol,
        "ws_max_size": MESSAGE_OCTETS,
        "ws_per_message_deflate": False,
        "ws_ping_interval": PING_SECONDS,
        "ws_ping_timeout": PING_SECONDS,
        "loop": "uvloop",
        "lifespan": "off",
        "limit_concurrency": connections,
        "timeout_keep_alive": KEEP_ALIVE_SECONDS,
        "proxy_headers": False,
        "server_header": False,
        "access_log": False,
        "log_config": None,
    }
    return uvicorn.Config(app, host=host, port=port, **options)
