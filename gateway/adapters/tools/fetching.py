"""One GET through the guard, with every quantity capped; and the tool made of it."""

from __future__ import annotations

import asyncio
import codecs
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final
from urllib.parse import urljoin

import aiohttp
from pydantic import Field

from gateway import __version__
from gateway.adapters.tools.declaration import AnyTool, tool
from gateway.adapters.tools.egress import MAX_URL, Destination, Egress, PinnedResolver
from gateway.adapters.tools.reading import read_html
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core.canonical import Json
from gateway.core.effects import escape, show
from gateway.core.errors import ToolFailed
from gateway.core.model import CallFacts, ToolOutput
from gateway.core.vocabulary import Category, Recovery, Trust

_HEADERS: Final = {
    "User-Agent": f"countersign/{__version__}",
    "Accept": "text/html, text/plain, application/json, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_BLOCK: Final = 16 * 1024
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS: Final = ("application/json", "application/xml", "application/javascript", "+json", "+xml")

_NAMES_OF_CHARSETS = """
    ascii utf-8 utf-16 utf-16-le utf-16-be big5 gb2312 gbk gb18030 euc_jp euc_kr shift_jis iso2022_jp koi8-r koi8-u
    iso8859-1 iso8859-2 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-15
    cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874
"""
_CHARSETS: Final = frozenset(_NAMES_OF_CHARSETS.split())
"""Python's names of the encodings a page may claim. Others (punycode, idna, unicode_escape) are slow or no encodings."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bytes as sent, bytes after inflating, seconds in all and between two pieces, and counts."""

    sent: int = 1024 * 1024
    inflated: int = 4 * 1024 * 1024
    total: float = 20.0
    idle: float = 10.0
    redirects: int = 5
    headers: int = 64
    header_size: int = 8 * 1024


@dataclass(frozen=True, slots=True)
class Page:
    """What came back. `data` is inflated; `complete` is False where a limit cut it."""

    url: str
    status: int
    media_type: str
    charset: str | None
    data: bytes
    complete: bool
    redirects: int


class Fetcher:
    """GET and nothing else, one connection per request, no cookies, no credentials, no proxy."""

    def __init__(self, egress: Egress, limits: FetchLimits | None = None) -> None:
        self.egress = egress
        self.limits = limits or FetchLimits()

    async def get(self, url: str) -> Page:
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

    async def _follow(self, destination: Destination) -> Page:
        for hop in range(self.limits.redirects + 1):
            found = await self._ask(destination, hop)
            if isinstance(found, Page):
                return found
            following = self.egress.inspect(urljoin(str(destination.url), found))
            if destination.url.scheme == "https" and following.url.scheme == "http":
                raise ToolFailed(f"{show(str(destination.url))} leads from https down to http")
            destination = following
        raise ToolFailed(f"{show(str(destination.url))} is one redirect too many")

    async def _ask(self, destination: Destination, hop: int) -> Page | str:
        """The page, or where it says to go instead."""
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
                headers=_HEADERS,
                auto_decompress=False,
                trust_env=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.limits.idle, sock_read=self.limits.idle),
                max_line_size=self.limits.header_size,
                max_field_size=self.limits.header_size,
                max_headers=self.limits.headers,
            ) as session,
            session.get(destination.url, allow_redirects=False) as response,
        ):
            location = response.headers.get("Location")
            if response.status in _REDIRECTS and location is not None:
                return location
            inflate = _choose_inflater(response.headers.get("Content-Encoding", ""), self.limits.inflated)
            complete = await self._receive(response, inflate)
            return Page(
                url=str(destination.url),
                status=response.status,
                media_type=response.content_type,
                charset=response.charset,
                data=bytes(inflate.data),
                complete=complete,
                redirects=hop,
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
        """Take a piece; whether there is room for more. Raises ToolFailed for what is not compressed as it says."""
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
                raise ToolFailed("the answer is damaged: it is not compressed as it says") from None
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
            raise ToolFailed(f"the answer is encoded as {show(other[:100])}, which was not asked for")


def web_tools(fetcher: Fetcher) -> list[AnyTool]:
    """The tool that reads the web."""
    readers = WorkerThreads("page", 2)

    def find_host(arguments: Mapping[str, Json]) -> CallFacts:
        return CallFacts(host=fetcher.egress.inspect(arguments["url"]).host)

    @tool(
        category=Category.NETWORK,
        summary="Fetch {url}",
        effects=("Sends a request to {url}; whoever runs that server sees the whole address",),
        trust=Trust.UNTRUSTED,
        recovery=Recovery.IDEMPOTENT,
        facts=find_host,
        interface="web",
    )
    async def http_get(
        url: Annotated[str, Field(description="Address of the page, for example https://example.com/", max_length=MAX_URL)],
    ) -> ToolOutput:
        """Fetch a public web page and give its text."""
        page = await fetcher.get(url)
        return await readers.submit(lambda: _read_page(page))

    return [http_get]


def _read_page(page: Page) -> ToolOutput:
    media = escape(page.media_type)[:100]
    record: dict[str, Json] = {
        "url": page.url,
        "status": page.status,
        "mediaType": media,
        "bytes": len(page.data),
        "complete": page.complete,
        "redirects": page.redirects,
    }
    head = f"{escape(page.url)} answered {page.status}, {media}"
    if page.media_type in _HTML:
        reading = read_html(_decode(page), page.url)
        record["complete"] = page.complete and reading.complete
        text = "\n\n".join(part for part in (reading.title, reading.text) if part)
    elif page.media_type.startswith("text/") or page.media_type.endswith(_TEXTS):
        text = _decode(page)
    else:
        return ToolOutput(f"{head}: {len(page.data)} bytes that are not text", record)
    note = "" if record["complete"] else f"\n…[only the beginning; {len(page.data)} bytes were read]"
    return ToolOutput(f"{head}\n\n{text or '(no text)'}{note}", record)


def _decode(page: Page) -> str:
    try:
        charset = codecs.lookup(page.charset or "utf-8").name
    except (LookupError, ValueError):
        charset = "utf-8"
    return page.data.decode(charset if charset in _CHARSETS else "utf-8", "replace")
