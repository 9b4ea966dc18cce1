"""Weights as their publisher serves them: one file over HTTP, resumed where it broke off.

What arrives is only counted here; `fetch` checks the digest. Status codes and `Content-Range`: RFC 9110, sections 14 and 15.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import aiohttp

from gateway.core.errors import ModelUnavailable

CONNECT_SECONDS: Final = 15.0
SILENCE_SECONDS: Final = 60.0
"""Without one byte, a connection counts as broken; pip waits 15 s, browsers some minutes."""

MAX_FRUITLESS: Final = 4
"""Attempts in a row that bring nothing new, then the next source has its turn."""

CHUNK: Final = 1 << 18

ReportBytes = Callable[[int], None]
Pause = Callable[[float], Awaitable[None]]

_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class _Interrupted(Exception):
    """The connection ended before the file did; what came is kept."""


async def download(url: str, part: Path, size: int, report: ReportBytes, *, pause: Pause = asyncio.sleep) -> None:
    """Complete `part` to `size` bytes, asking only for what is missing; `report` is called with how many bytes there are.

    Raises ModelUnavailable when the server cannot be reached, offers another size, or breaks off again and again.
    """
    timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS, sock_read=SILENCE_SECONDS)
    # The operator's own proxy settings hold for downloads, as they do for pip.
    async with aiohttp.ClientSession(timeout=timeout, trust_env=True, auto_decompress=False) as session:
        fruitless = 0
        while (had := _length(part, size)) < size:
            report(had)
            try:
                await _take_up(session, url, part, had, size, report)
            except _Interrupted:
                fruitless = fruitless + 1 if _length(part, size) <= had else 0
                if fruitless == MAX_FRUITLESS:
                    raise ModelUnavailable("the connection broke off again and again", "absent") from None
                await pause(2.0**fruitless)


def _length(part: Path, size: int) -> int:
    """Bytes there are. More than there should be belong to another file, which is deleted."""
    length = part.stat().st_size if part.exists() else 0
    if length > size:
        part.unlink()
        return 0
    return length


async def _take_up(session: aiohttp.ClientSession, url: str, part: Path, had: int, size: int, report: ReportBytes) -> None:
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={had}-"} if had else {})
    try:
        async with session.get(url, headers=headers) as response:
            start = _start_of(response, had, size)
            if start is None:
                await asyncio.to_thread(part.unlink)
                return
            sink = await asyncio.to_thread(part.open, "ab" if start else "wb")
            with sink:
                have = start
                async for chunk in response.content.iter_chunked(CHUNK):
                    have += len(chunk)
                    if have > size:
                        raise ModelUnavailable(f"the server sends more than the {size} bytes that were expected", "absent")
                    sink.write(chunk)
                    # What is on disk is still there after a crash.
                    sink.flush()
                    report(have)
    except aiohttp.ClientConnectorError as error:
        raise ModelUnavailable(f"{error.host} cannot be reached", "absent") from None
    except (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, TimeoutError):
        raise _Interrupted from None
    except (aiohttp.ClientError, ValueError) as error:
        raise ModelUnavailable(f"the download failed: {type(error).__name__}", "absent") from None
    if have < size:
        # A body without a length may end early and look whole.
        raise _Interrupted


def _start_of(response: aiohttp.ClientResponse, had: int, size: int) -> int | None:
    """The offset of the body's first byte; None when the server has nothing beyond what is there, so that is not its file."""
    match response.status:
        case 200:
            _check_size(response.content_length, size)
            return 0
        case 206:
            found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if found is None or int(found[1]) != had:
                raise ModelUnavailable("the server sends another part of the file than was asked for", "absent")
            _check_size(None if found[2] == "*" else int(found[2]), size)
            return had
        case 416 if had:
            return None
        case status:
            raise ModelUnavailable(f"{response.url.host} answered with status {status}", "absent")


def _check_size(offered: int | None, size: int) -> None:
    if offered is not None and offered != size:
        raise ModelUnavailable(f"the server offers a file of {offered} bytes, expected {size}", "absent")
