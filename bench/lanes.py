"""A WebSocket client that costs next to nothing, so that what is measured is the server.

A lane is one connection with one call under way at a time. Frames are put together from a template and masked with zeros,
which every server has to accept (RFC 6455 section 5.3 asks for unpredictable keys only to protect proxies).
"""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
TIME_LIMIT = 60.0
"""Seconds that a single answer may take on a machine with other work."""


@dataclass(frozen=True)
class Target:
    """Where a lane leads. `begins_turns`: it is a gateway, whose calls need a turn's snapshot."""

    port: int
    host: str
    origin: str
    cookie: str
    begins_turns: bool


@dataclass(eq=False)
class Run:
    """One cell: calls until a moment, and how long each took in seconds."""

    until: float
    latencies: list[float] = field(default_factory=list[float])
    calls: int = 0
    wrong: bytes | None = None


class Lane(asyncio.Protocol):
    """One caller."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._buffer = bytearray()
        self._receive: Callable[[bytes], None] = self._ignore
        self.welcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: Any = None
        self._frame = ""
        self._number = 0

    @classmethod
    async def connect(cls, target: Target) -> Lane:
        """Connect, and begin a turn where the target asks for one."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(TIME_LIMIT):
            _, lane = await loop.create_connection(lambda: cls(target), "127.0.0.1", target.port)
            await lane.welcome
            await lane.begin()
        return lane

    async def request(self, method: str, params: dict[str, Any]) -> Any:
        """One call of any method, outside a run."""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._receive = answer.set_result
        self._number += 1
        self._send(orjson.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}))
        reply = orjson.loads(await answer)
        self._receive = self._ignore
        return reply["result"]

    async def drive(self, run: Run, tool: str, text: str) -> None:
        """Call a tool again and again until the run is over."""
        template = (self._frame % (tool, text)).encode().replace(b"#", b"%d")
        finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        began = 0.0

        def call() -> None:
            nonlocal began
            self._number += 1
            began = time.perf_counter()
            self._send(template % (self._number, self._number))

        def answered(message: bytes) -> None:
            now = time.perf_counter()
            run.latencies.append(now - began)
            run.calls += 1
            if b'"outcome":"ok"' not in message:
                run.wrong = message
                finished.set_result(None)
            elif now < run.until:
                call()
            else:
                finished.set_result(None)

        self._receive = answered
        call()
        async with asyncio.timeout(run.until - time.perf_counter() + TIME_LIMIT):
            await finished
        self._receive = self._ignore

    def listen(self, notification: str) -> asyncio.Future[float]:
        """When the next notification of that name comes, by the monotonic clock."""
        heard: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        wanted = f'"method":"{notification}"'.encode()

        def hear(message: bytes) -> None:
            if wanted in message and not heard.done():
                heard.set_result(time.monotonic())

        self._receive = hear
        return heard

    async def begin(self) -> None:
        """Open a conversation and a turn, if the target has such things."""
        conversation, turn, snapshot, digest = "cnv_none", "trn_none", "snp_none", "0" * 64
        if self._target.begins_turns:
            conversation = (await self.request("conversations/open", {}))["conversation"]["id"]
            begun = (await self.request("turns/begin", {"conversationId": conversation}))["snapshot"]
            turn, snapshot, digest = begun["turnId"], begun["id"], begun["digest"]
        self._frame = (
            '{"jsonrpc":"2.0","id":#,"method":"tools/invoke","params":{"conversationId":"'
            f'{conversation}","turnId":"{turn}","snapshotId":"{snapshot}","snapshotDigest":"{digest}",'
            '"call":{"id":"c-#","name":"%s","arguments":{"text":"%s"}}}}'
        )

    # ── RFC 6455, as much as it takes ──

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio.Protocol."""
        self._transport = transport
        key = base64.b64encode(os.urandom(16)).decode()
        cookie = f"Cookie: {self._target.cookie}\r\n" if self._target.cookie else ""
        self._transport.write(
            (
                f"GET /ws HTTP/1.1\r\nHost: {self._target.host}\r\nOrigin: {self._target.origin}\r\n{cookie}"
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: countersign.v1\r\n\r\n"
            ).encode()
        )

    def data_received(self, data: bytes) -> None:
        """asyncio.Protocol."""
        self._buffer += data
        if not self.welcome.done():
            head, end, rest = bytes(self._buffer).partition(b"\r\n\r\n")
            if not end:
                return
            if b" 101 " not in head.split(b"\r\n")[0]:
                self.welcome.set_exception(ConnectionError(f"no welcome: {head + end + rest!r}"))
                return
            self._buffer = bytearray(rest)
            self.welcome.set_result(None)
        while (frame := self._take_frame()) is not None:
            opcode, payload = frame
            if opcode == TEXT:
                self._receive(payload)
            elif opcode == PING:
                self._send(payload, PONG)

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio.Protocol. A run that waits for an answer then ends by its timeout."""
        if not self.welcome.done():
            self.welcome.set_exception(ConnectionError("hung up during the handshake"))

    def _take_frame(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        length, start = buffer[1], 2
        if length == 126:
            length, start = int.from_bytes(buffer[2:4]), 4
        elif length == 127:
            length, start = int.from_bytes(buffer[2:10]), 10
        if len(buffer) < start + length:
            return None
        payload = bytes(buffer[start : start + length])
        opcode = buffer[0] & 0x0F
        del buffer[: start + length]
        return opcode, payload

    def _send(self, payload: bytes, opcode: int = TEXT) -> None:
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2)
        self._transport.write(bytes([0x80 | opcode]) + length + b"\0\0\0\0" + payload)

    def _ignore(self, _message: bytes) -> None:
        """Nobody asked: a notification."""
