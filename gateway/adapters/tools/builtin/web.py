"""The built-in tool that reads the web."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from gateway.adapters.tools.builtin.egress import MAX_URL
from gateway.adapters.tools.builtin.fetching import FetchedPage, Fetcher
from gateway.adapters.tools.builtin.reading import read_html
from gateway.adapters.tools.declaration import AnyTool, tool
from gateway.adapters.tools.threads import WorkerThreads
from gateway.core.canonical import Json
from gateway.core.effects import escape
from gateway.core.model import CallFacts, ToolOutput
from gateway.core.vocabulary import Category, Recovery, Trust

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS: Final = ("application/json", "application/xml", "application/javascript", "+json", "+xml")

_NAMES_OF_CHARSETS = """
    ascii utf-8 utf-16 utf-16-le utf-16-be big5 gb2312 gbk gb18030 euc_jp euc_kr shift_jis iso2022_jp koi8-r koi8-u
    iso8859-1 iso8859-2 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-15
    cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874
"""
_CHARSETS: Final = frozenset(_NAMES_OF_CHARSETS.split())
"""Python's names of the encodings a page may claim. Others (punycode, idna, unicode_escape) are slow or no encodings."""


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


def _read_page(page: FetchedPage) -> ToolOutput:
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


def _decode(page: FetchedPage) -> str:
    try:
        charset = codecs.lookup(page.charset or "utf-8").name
    except (LookupError, ValueError):
        charset = "utf-8"
    return page.data.decode(charset if charset in _CHARSETS else "utf-8", "replace")
