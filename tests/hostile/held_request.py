"""A request whose last byte is held back until the test lets it go."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import orjson

from gateway.core.canonical import Json
from tests.harness.http import Browser
from tests.hostile.raw_socket import connect

PATIENCE = 20.0


@dataclass
class HeldRequest:
    """A POST that the gateway has judged by its head, and waits for the rest of."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    last: bytes

    @classmethod
    async def begin(cls, browser: Browser, url: str, body: Json, headers: Mapping[str, str] | None = None) -> HeldRequest:
        """All of it but the last byte. `Expect` has the gateway say that it waits for the body."""
        parts, raw = urlsplit(url), orjson.dumps(body)
        jar = browser.cookies.get(parts.hostname or "", {})
        sent = {
            "Host": parts.netloc,
            "Origin": f"{parts.scheme}://{parts.netloc}",
            "Cookie": "; ".join(f"{name}={value}" for name, value in jar.items()),
            "Content-Type": "application/json",
            "Content-Length": str(len(raw)),
            "Expect": "100-continue",
            **(headers or {}),
        }
        reader, writer = await connect(browser.port)
        lines = [f"POST {parts.path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
        writer.write("\r\n".join(lines).encode("latin-1"))
        async with asyncio.timeout(PATIENCE):
            assert b" 100 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(raw[:-1])
        return cls(reader, writer, raw[-1:])

    async def finish(self) -> int:
        """Send the last byte; the status of the answer."""
        self.writer.write(self.last)
        async with asyncio.timeout(PATIENCE):
            head = await self.reader.readuntil(b"\r\n\r\n")
        self.writer.close()
        return int(head.split(b" ", 2)[1])
