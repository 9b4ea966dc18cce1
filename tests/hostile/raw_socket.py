"""A WebSocket client that can break the protocol: frames are written byte by byte (RFC 6455 section 5.2)."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from urllib.parse import urlsplit

import orjson

from tests.harness.http import Browser

PATIENCE = 20.0
"""Seconds that anything may take; a bound, not a measurement."""


class Opcode(IntEnum):
    """RFC 6455 section 11.8."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


class ClosedByGateway(Exception):
    """The gateway closed the connection; `code` is its close code, 1006 when it sent none."""

    def __init__(self, code: int) -> None:
        super().__init__(f"closed with {code}")
        self.code = code


def frame(
    payload: bytes,
    opcode: int = Opcode.TEXT,
    *,
    final: bool = True,
    reserved: int = 0,
    masked: bool = True,
    claimed: int | None = None,
) -> bytes:
    """One frame. `claimed` is a false length; `reserved` sets RSV1 to RSV3 (bits 4, 2, 1)."""
    length = len(payload) if claimed is None else claimed
    bits = 0x80 if masked else 0
    if length < 126:
        size = struct.pack(">B", bits | length)
    elif length < 1 << 16:
        size = struct.pack(">BH", bits | 126, length)
    else:
        size = struct.pack(">BQ", bits | 127, length)
    head = struct.pack(">B", (0x80 if final else 0) | reserved << 4 | opcode) + size
    # A zero mask is a valid mask and does not change the payload.
    return head + (bytes(4) if masked else b"") + payload


def request(method: str, params: Mapping[str, Any] | None = None, number: int = 1) -> bytes:
    """A well-formed JSON-RPC request."""
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})


@dataclass
class RawSocket:
    """An upgraded connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def open(cls, browser: Browser, site: str, *, receive_buffer: int | None = None) -> RawSocket:
        """Connect as the site's own page would."""
        status, connection = await handshake(browser, site, receive_buffer=receive_buffer)
        assert status == 101, status
        return connection

    def write(self, *frames: bytes) -> None:
        """Send bytes."""
        self.writer.write(b"".join(frames))

    async def exchange(self, payload: bytes | str, **options: Any) -> dict[str, Any]:
        """Send one text message and return its answer."""
        self.write(frame(payload.encode() if isinstance(payload, str) else payload, **options))
        return await self.receive()

    async def receive(self) -> dict[str, Any]:
        """The next answer; notifications are skipped. Raises ClosedByGateway."""
        async with asyncio.timeout(PATIENCE):
            while True:
                message = orjson.loads(await self.receive_message())
                if "method" not in message:
                    return message

    async def receive_message(self) -> bytes:
        """The next text message, whatever it is. Raises ClosedByGateway."""
        async with asyncio.timeout(PATIENCE):
            while True:
                opcode, payload = await self._read_frame()
                match opcode:
                    case Opcode.TEXT:
                        return payload
                    case Opcode.PING:
                        self.write(frame(payload, Opcode.PONG))
                    case Opcode.PONG:
                        continue
                    case Opcode.CLOSE:
                        raise ClosedByGateway(struct.unpack(">H", payload[:2])[0] if payload else 1005)
                    case _:
                        raise AssertionError(f"an unexpected frame of opcode {opcode}")

    async def close_code(self) -> int:
        """The gateway's close code, after its remaining messages."""
        try:
            while True:
                await self.receive_message()
        except ClosedByGateway as hung_up:
            return hung_up.code

    async def drop(self) -> None:
        """Drop the connection."""
        self.writer.transport.abort()
        try:
            await self.writer.wait_closed()
        except OSError:
            return

    async def _read_frame(self) -> tuple[int, bytes]:
        try:
            first, second = await self.reader.readexactly(2)
            assert first & 0x80, "the gateway sends no fragments"
            assert not first & 0x70, "no extension was negotiated"
            assert not second & 0x80, "a server does not mask frames"
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack(">H", await self.reader.readexactly(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", await self.reader.readexactly(8))
            return first & 0x0F, await self.reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise ClosedByGateway(1006) from None


async def connect(port: int, *, receive_buffer: int | None = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A TCP connection to the gateway; with a small receive buffer, a stalled peer blocks the gateway's writes soon."""
    peer = socket.socket()
    if receive_buffer is not None:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    peer.setblocking(False)
    await asyncio.get_running_loop().sock_connect(peer, ("127.0.0.1", port))
    limit = 64 * 1024 if receive_buffer is None else receive_buffer
    return await asyncio.open_connection(sock=peer, limit=limit)


async def handshake(
    browser: Browser,
    site: str,
    *,
    host: str | None = None,
    origins: Sequence[str] | None = None,
    headers: Mapping[str, str] | None = None,
    receive_buffer: int | None = None,
) -> tuple[int, RawSocket]:
    """Request the upgrade with this person's cookies, with any Host and any number of Origins. Returns the status."""
    parts = urlsplit(site)
    jar = browser.cookies.get(parts.hostname or "", {})
    lines = {
        "Host": host if host is not None else parts.netloc,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Protocol": "countersign.v1",
        "Cookie": "; ".join(f"{name}={value}" for name, value in jar.items()),
        **(headers or {}),
    }
    sent = [f"{name}: {value}" for name, value in lines.items() if value]
    sent += [f"Origin: {origin}" for origin in ([site] if origins is None else origins)]
    reader, writer = await connect(browser.port, receive_buffer=receive_buffer)
    writer.write("\r\n".join(["GET /ws HTTP/1.1", *sent, "", ""]).encode("latin-1"))
    async with asyncio.timeout(PATIENCE):
        head = await reader.readuntil(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), RawSocket(reader, writer)
