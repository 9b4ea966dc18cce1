"""Servers on loopback that answer as a test wants, and fetchers that may reach them."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import pytest

from gateway.adapters.tools.builtin.egress import Egress
from gateway.adapters.tools.builtin.fetching import Fetcher, FetchLimits
from gateway.core.errors import ToolFailed

QUICK = FetchLimits(sent=64 * 1024, inflated=256 * 1024, total=5.0, idle=2.0)


@dataclass(frozen=True)
class ServerRequest:
    """One request as a server sees it."""

    path: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def wait_until_left(self) -> None:
        await self.reader.read()


Handler = Callable[[ServerRequest], Awaitable[None]]


class Site:
    """A server on loopback that answers as its handler says and remembers the heads of its requests."""

    def __init__(self, handler: Handler | bytes, context: ssl.SSLContext | None) -> None:
        self.heads: list[str] = []
        self._left = asyncio.Event()
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._handler = handler
        self._context = context

    async def start(self, address: str, port: int) -> None:
        def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._connections[asyncio.create_task(self._serve(reader, writer))] = writer

        self._server = await asyncio.start_server(begin, address, port, ssl=self._context)
        self.port: int = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        for writer in self._connections.values():
            writer.transport.abort()
        async with asyncio.timeout(5):
            await asyncio.gather(*self._connections)

    async def wait_until_left(self) -> None:
        async with asyncio.timeout(5):
            await self._left.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            visit = ServerRequest(head.split(" ", 2)[1], reader, writer)
            if isinstance(self._handler, bytes):
                await visit.send(self._handler)
            else:
                await self._handler(visit)
        writer.close()
        self._left.set()


Start = Callable[..., Awaitable[Site]]


def page(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def redirect(location: str, *headers: str) -> bytes:
    return page(b"", f"Location: {location}", *headers, status="302 Found")


def fetcher_of(*sites: Site, limits: FetchLimits = QUICK) -> Fetcher:
    return Fetcher(Egress([f"127.0.0.1:{site.port}" for site in sites]), limits)


def url_of(site: Site, path: str = "/") -> str:
    return f"http://127.0.0.1:{site.port}{path}"


async def refusal_of(fetching: Awaitable[object]) -> str:
    with pytest.raises(ToolFailed) as caught:
        await fetching
    return caught.value.message
