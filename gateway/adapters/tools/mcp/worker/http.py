"""Streamable HTTP with limits: one address that the operator chose, no proxy, no way to another host, counted bytes.

A transport error of the HTTP library would end all that the SDK does. So it is told to the SDK as an answer: an error for the
request that could not be sent or answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from gateway.adapters.tools.mcp.worker.addresses import AddressRefused, pin
from gateway.adapters.tools.mcp.worker.inert import inert_line
from gateway.adapters.tools.mcp.worker.raw_lists import leave_out_unreadable
from gateway.adapters.tools.mcp.worker.watching import MAX_MESSAGE, Meter, Watch, WatchedTransport

CONNECT_SECONDS: Final = 10.0

STREAMS_AT_ONCE: Final = 20
STREAM_SECONDS: Final = 2.0
"""How often a connection asks for a stream of events as soon as the server lets it, and the seconds for each further one, all of
its requests and calls together. A server that ends each stream at once, and says that it may be asked again at once, would be
asked hundreds of times a second."""

MOST_WAITING: Final = 50
"""Requests for a stream of events that wait for their turn. The SDK goes on asking for that of a call whose caller has left."""

NOT_SENT: Final = -32090
NOT_ANSWERED: Final = -32091
REJECTED: Final = -32092
UNAUTHORIZED: Final = -32093
"""Codes of the errors made here; JSON-RPC leaves the range to applications. `Watch.token` tells them from a server's own."""


_DATA: Final = b"data:"
_LINE_END: Final = re.compile(rb"(?<=[\r\n])")
"""Of a stream of events."""

MAX_CHALLENGE: Final = 4_096
"""Characters of what a server says about the sign-in that it wants."""


class BearerToken:
    """The access token that goes with every request, as long as there is one. It is replaced while the connection stays."""

    def __init__(self, token: str | None) -> None:
        self.token = token

    def add_to(self, request: httpx2.Request) -> None:
        """Put it into the request."""
        if self.token is not None:
            request.headers["Authorization"] = f"Bearer {self.token}"


def open_http(url: str, headers: Mapping[str, str], bearer: BearerToken, watch: Watch, *, private: bool) -> WatchedTransport:
    """The transport for one address. `headers` and `bearer` go with every request. `private`: its host may be in a private
    network."""
    client = httpx2.AsyncClient(
        # Nothing of the environment: no proxy, no credentials of a netrc file.
        trust_env=False,
        follow_redirects=False,
        # A compressed answer could unfold to any size, so none is asked for; see `OneServer`.
        headers={**headers, "Accept-Encoding": "identity", "User-Agent": "countersign"},
        # How long an answer may take is decided for each request.
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS, write=CONNECT_SECONDS),
        transport=OneServer(bearer, watch, has_headers=bool(headers), private=private),
    )
    return WatchedTransport(streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE), watch)


class OneServer(httpx2.AsyncBaseTransport):
    """Sends requests over HTTP and never raises: what goes wrong is an answer of its own."""

    def __init__(self, bearer: BearerToken, watch: Watch, *, has_headers: bool, private: bool) -> None:
        self._bearer = bearer
        self._watch = watch
        self._has_headers = has_headers
        self._private = private
        self._streams = Meter(STREAMS_AT_ONCE, 1 / STREAM_SECONDS)
        self._waiting = 0
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False, retries=0)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer, its body counted."""
        await self._wait_for_turn(request)
        self._bearer.add_to(request)
        try:
            response = await self._send(request)
        except AddressRefused as error:
            self._watch.detail = error.detail
            return self._answer(request, NOT_SENT, str(error))
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            self._watch.detail = ""
            return self._answer(request, NOT_SENT, f"the server cannot be reached ({_reason(error)})")
        except httpx2.TransportError as error:
            return self._answer(request, NOT_ANSWERED, f"the connection broke ({type(error).__name__})")
        if response.status_code in (401, 403):
            await response.aclose()
            return self._refuse(request, response)
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            await response.aclose()
            return self._answer(request, NOT_ANSWERED, "the server compressed its answer, which was not asked for")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_CountedBody(response.stream, self._watch, is_stream=_is_stream(response)),
            extensions=response.extensions,
            request=request,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _wait_for_turn(self, request: httpx2.Request) -> None:
        """Only streams of events are asked for with GET."""
        if request.method != "GET" or not (seconds := self._streams.wait_for()):
            return
        if self._waiting >= MOST_WAITING:
            self._watch.end(f"it ended its streams of events so fast that more than {MOST_WAITING} wait to be asked for again")
        self._waiting += 1
        try:
            await asyncio.sleep(seconds)
        finally:
            self._waiting -= 1

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        """To an address that was looked at, one after the other until one can be connected to."""
        pinned = await pin(request, private=self._private)
        for each in pinned[:-1]:
            with contextlib.suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._inner.handle_async_request(each)
        return await self._inner.handle_async_request(pinned[-1])

    def _refuse(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        said, challenge = f"the server answers {response.status_code}", response.headers.get("www-authenticate", "")
        # A server that says nothing may still have a sign-in, unless the operator gave it a key to check.
        has_key = self._has_headers and self._bearer.token is None
        if "bearer" in challenge.lower() or (response.status_code == 401 and not has_key):
            self._watch.challenge = challenge[:MAX_CHALLENGE]
            return self._answer(request, UNAUTHORIZED, f"{said}: it wants a sign-in")
        return self._answer(request, REJECTED, f"{said}: it does not accept these `headers`")

    def _answer(self, request: httpx2.Request, code: int, message: str) -> httpx2.Response:
        error = {"code": code, "message": message, "data": self._watch.token}
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
        return httpx2.Response(502, headers={"content-type": "application/json"}, content=body, request=request)


class _CountedBody(httpx2.AsyncByteStream):
    """A body that ends early where it breaks a limit or its connection; what was cut off is no JSON then. What it holds of a list
    of tools that the SDK could not read is left out: of a stream line by line, of anything else in all that is sent."""

    def __init__(self, inner: httpx2.AsyncByteStream, watch: Watch, *, is_stream: bool) -> None:
        self._inner = inner
        self._watch = watch
        self._is_stream = is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held: list[bytes] = []
        async for chunk in self._count():
            held.append(chunk)
            if self._is_stream and (b"\n" in chunk or b"\r" in chunk):
                *lines, rest = _LINE_END.split(b"".join(held))
                held = [rest]
                yield b"".join(map(self._read_line, lines))
        raw = b"".join(held)
        yield raw if self._is_stream else leave_out_unreadable(raw, self._watch.malformed)

    def _read_line(self, line: bytes) -> bytes:
        if not line.startswith(_DATA):
            return line
        return _DATA + leave_out_unreadable(line.removeprefix(_DATA), self._watch.malformed)

    async def _count(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._inner:
                # Of a stream each line counts for itself; of anything else all that is sent.
                end = chunk.rfind(b"\n") if self._is_stream else -1
                size = size + len(chunk) if end < 0 else len(chunk) - end - 1
                if not self._watch.takes_bytes(len(chunk)):
                    return
                if size > MAX_MESSAGE:
                    self._watch.end(f"it sent an answer of more than {MAX_MESSAGE >> 20} MB")
                    return
                yield chunk
        except httpx2.TransportError:
            return

    async def aclose(self) -> None:
        """Close the answer."""
        await self._inner.aclose()


def _is_stream(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").lower().startswith("text/event-stream")


def _reason(error: Exception) -> str:
    """The library's words are about names and addresses that the operator gave; they are shortened and made inert."""
    return inert_line(str(error), 120) or type(error).__name__
