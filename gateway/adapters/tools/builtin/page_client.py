"""The HTTP client of `fetching`: connections to addresses that were judged, and to no others."""

from __future__ import annotations

import asyncio
import socket
import ssl
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urljoin

import aiohttp
import ssrfguard
from aiohttp.abc import AbstractResolver, ResolveResult

from gateway import __version__
from gateway.adapters.tools.builtin.egress import Destination, Egress
from gateway.adapters.tools.builtin.fetching import DamagedAnswer, FetchedPage, FetchLimits, HttpAnswer
from gateway.core.effects import show
from gateway.core.errors import ToolFailed

_HEADERS: Final = {
    "User-Agent": f"countersign/{__version__}",
    "Accept": "text/html, text/plain, application/json, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
"""Statuses whose `Location` is another address to ask (RFC 9110 section 15.4)."""

_BLOCK: Final = 16 * 1024


class PinnedResolver(AbstractResolver):
    """Answers for one host with the addresses that were judged, and for no other. Never asks anybody."""

    def __init__(self, host: str, addresses: Sequence[ssrfguard.Address]) -> None:
        self._host = host
        self._addresses = addresses
        self._pinned = {(address.ip, address.port) for address in addresses}

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC) -> list[ResolveResult]:
        """The pinned addresses, whatever the family."""
        if host != self._host:
            raise OSError(f"no other host than {self._host} was looked up")
        return [
            ResolveResult(
                hostname=host,
                host=str(address.ip),
                port=port,
                family=address.family,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""

    def make_socket(self, answer: Any) -> socket.socket:
        """The last check, for the client's `socket_factory`: no socket for an address that was not checked.

        A client need not ask its resolver at all, for instance where the URL holds an address.
        """
        family, kind, protocol, _, address = answer
        if (ip_address(address[0]), address[1]) not in self._pinned:
            raise OSError("this address was not looked up")
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        return made


class PageClient:
    """What a Fetcher does, with the library that does it."""

    def __init__(self, egress: Egress, limits: FetchLimits) -> None:
        self.egress = egress
        self.limits = limits

    async def get(self, url: str) -> FetchedPage:
        """The page, after at most `limits.redirects` hops, each judged like the first. Raises ToolFailed."""
        try:
            async with asyncio.timeout(self.limits.total):
                return await self._follow(self.egress.inspect(url))
        except TimeoutError:
            raise ToolFailed(f"{show(url)} took too long to answer") from None
        except aiohttp.ClientSSLError:
            raise ToolFailed(f"{show(url)} has no certificate that can be trusted") from None
        except aiohttp.ClientConnectorError:
            raise ToolFailed(f"{show(url)} cannot be reached") from None
        except aiohttp.ClientPayloadError:
            raise ToolFailed(f"{show(url)} broke off its answer") from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise ToolFailed(f"{show(url)} gave no proper answer") from None

    async def _follow(self, destination: Destination) -> FetchedPage:
        for hop in range(self.limits.redirects + 1):
            found = await self._ask(destination, hop)
            if isinstance(found, FetchedPage):
                return found
            following = self.egress.inspect(urljoin(str(destination.url), found))
            if destination.url.scheme == "https" and following.url.scheme == "http":
                raise ToolFailed(f"{show(str(destination.url))} leads from https down to http")
            destination = following
        raise ToolFailed(f"{show(str(destination.url))} is one redirect too many")

    async def _ask(self, destination: Destination, hop: int) -> FetchedPage | str:
        """The page, or where it says to go instead."""
        answer = await self.exchange(destination, "GET", _HEADERS)
        location = answer.header("Location")
        if answer.status in REDIRECTS and location is not None:
            return location
        return FetchedPage(
            url=str(destination.url),
            status=answer.status,
            media_type=answer.media_type,
            charset=answer.charset,
            data=answer.data,
            complete=answer.complete,
            redirects=hop,
        )

    async def exchange(
        self, destination: Destination, method: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> HttpAnswer:
        """One request and its answer, without following a redirect. Raises ToolFailed for an address that may not be asked,
        DamagedAnswer, and what aiohttp raises; an aiohttp.ClientConnectorError says that nothing was sent."""
        resolver = PinnedResolver(destination.target.host, await self.egress.locate(destination))
        connector = aiohttp.TCPConnector(
            resolver=resolver,
            socket_factory=resolver.make_socket,
            use_dns_cache=False,
            force_close=True,
            limit=1,
            ssl=self._trust,
        )
        async with (
            aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.limits.idle, sock_read=self.limits.idle),
                max_line_size=self.limits.header_size,
                max_field_size=self.limits.header_size,
                max_headers=self.limits.headers,
            ) as session,
            session.request(method, destination.url, headers=headers, data=body, allow_redirects=False) as response,
        ):
            redirected = response.status in REDIRECTS and "Location" in response.headers
            encoding = response.headers.get("Content-Encoding", "")
            # Where it only says to go elsewhere the body is of no use, and none is read.
            inflate = _choose_inflater("" if redirected else encoding, self.limits.inflated)
            complete = redirected or await self._receive(response, inflate)
            return HttpAnswer(
                status=response.status,
                headers=tuple(response.headers.items()),
                media_type=response.content_type,
                charset=response.charset,
                data=bytes(inflate.data),
                complete=complete,
            )

    async def _receive(self, response: aiohttp.ClientResponse, inflate: _Inflater) -> bool:
        left = self.limits.sent
        while left > 0:
            piece = await response.content.read(min(_BLOCK, left))
            if not piece:
                return inflate.finish()
            left -= len(piece)
            if not inflate.add(piece):
                return False
        return response.content.at_eof() and inflate.finish()

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        # Made when first needed: reading the system's certificates takes some milliseconds.
        return ssl.create_default_context()


class _Inflater:
    """Collects a body, inflated as it comes, up to `limit` bytes. `windows` are the zlib formats to try, none for plain."""

    def __init__(self, limit: int, windows: tuple[int, ...] = ()) -> None:
        self.data = bytearray()
        self._limit = limit
        self._windows = windows
        self._inner = zlib.decompressobj(windows[0]) if windows else None

    def add(self, piece: bytes) -> bool:
        """Take a piece; whether more may come. Raises ToolFailed for what is not compressed as it says."""
        if self._inner is None:
            self.data += piece[: self._limit - len(self.data)]
            return len(self.data) < self._limit
        try:
            while piece and not self._inner.eof:
                room = self._limit - len(self.data)
                # To zlib a maximum of nothing means no maximum.
                if room <= 0:
                    return False
                self.data += self._inner.decompress(piece, room)
                piece = self._inner.unconsumed_tail
        except zlib.error:
            if self.data or len(self._windows) < 2:
                raise DamagedAnswer("the answer is damaged: it is not compressed as it says") from None
            # `deflate` means zlib's format (RFC 9110 section 8.4.1.2), and some servers send it bare.
            self._windows = self._windows[1:]
            self._inner = zlib.decompressobj(self._windows[0])
            return self.add(piece)
        return True

    def finish(self) -> bool:
        """Whether the compressed stream, if it is one, came to its end."""
        return self._inner is None or self._inner.eof or not self.data


def _choose_inflater(encoding: str, limit: int) -> _Inflater:
    match encoding.strip().lower():
        case "" | "identity":
            return _Inflater(limit)
        case "gzip" | "x-gzip":
            return _Inflater(limit, (zlib.MAX_WBITS | 16,))
        case "deflate":
            return _Inflater(limit, (zlib.MAX_WBITS, -zlib.MAX_WBITS))
        case other:
            raise DamagedAnswer(f"the answer is encoded as {show(other[:100])}, which was not asked for")
