"""The stdio transport with limits: lines of JSON over two pipes, for the streams of the SDK.

The SDK's own puts a line together in quadratic time and without a limit, and drops what it cannot read, so that the caller
waits for nothing. Here a line has a largest size, is searched once, and one that was meant as an answer and cannot be read
fails what waits for one.
"""

from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import Final, Self

import anyio
import anyio.lowlevel
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from gateway.adapters.tools.mcp.worker.plain_requests import PlainRequests
from gateway.adapters.tools.mcp.worker.raw_lists import leave_out_unreadable
from gateway.adapters.tools.mcp.worker.watching import MAX_MESSAGE, WRITE_SECONDS, Watch

_CHUNK: Final = 1 << 16
_MEANT: Final = b'"jsonrpc"'
"""Stands in every message; a line without it is something that a program printed for people."""


class StdioTransport:
    """The two pipes of a server. Answers and requests pass through both halves, so that unanswered ones are known."""

    def __init__(self, stdin: int, stdout: int, watch: Watch) -> None:
        for descriptor in (stdin, stdout):
            os.set_blocking(descriptor, False)
        unanswered: set[RequestId] = set()
        self._writer = LineWriter(stdin, watch, unanswered)
        self.plain = PlainRequests(self._writer.write)
        self._reader = LineReader(stdout, watch, unanswered, self.plain)

    async def __aenter__(self) -> tuple[LineReader, LineWriter]:
        return self._reader, self._writer

    async def __aexit__(self, *_: object) -> None:
        await self._writer.aclose()
        await self._reader.aclose()


class _Half:
    """What the two halves share: a descriptor that is closed once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._is_open = True

    async def aclose(self) -> None:
        """Close it; once more does nothing."""
        if self._is_open:
            self._is_open = False
            os.close(self._descriptor)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None


class LineReader(_Half):
    """The messages that a server writes, until it ends or breaks a limit."""

    def __init__(self, descriptor: int, watch: Watch, unanswered: set[RequestId], plain: PlainRequests) -> None:
        super().__init__(descriptor)
        self._watch = watch
        self._unanswered = unanswered
        self._plain = plain
        self._buffer = bytearray()
        self._searched = 0
        self._failures: list[SessionMessage] = []

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage:
        """The next message that is for the SDK. Raises EndOfStream."""
        try:
            return await self._receive()
        except anyio.EndOfStream:
            self._plain.end()
            raise

    async def _receive(self) -> SessionMessage:
        while not self._failures:
            line = self._take_line()
            if line is None:
                await self._fill()
                continue
            # A buffer full of lines must leave the others of this process their turn.
            await anyio.lowlevel.checkpoint()
            message = self._read(line)
            if not self._watch.takes_message(message):
                raise anyio.EndOfStream
            if message is not None and not self._plain.take(message):
                return SessionMessage(message)
        return self._failures.pop()

    def _take_line(self) -> bytearray | None:
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
            return None
        line = self._buffer[:end]
        del self._buffer[: end + 1]
        self._searched = 0
        return line

    async def _fill(self) -> None:
        while True:
            try:
                chunk = os.read(self._descriptor, _CHUNK)
                break
            except BlockingIOError:
                await anyio.wait_readable(self._descriptor)
            except OSError:
                chunk = b""
                break
        if not chunk:
            self._watch.ended.set()
        if not chunk or not self._watch.takes_bytes(len(chunk)):
            raise anyio.EndOfStream
        self._buffer += chunk
        if len(self._buffer) > MAX_MESSAGE and b"\n" not in chunk:
            self._watch.end(f"it sent a line of more than {MAX_MESSAGE >> 20} MB")
            raise anyio.EndOfStream

    def _read(self, line: bytearray) -> JSONRPCMessage | None:
        if not line.strip():
            return None
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            message = self._read_without_unreadable(bytes(line))
            if message is None:
                if _MEANT in line:
                    self._fail_all()
                return None
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._unanswered.discard(message.id)
        return message

    def _read_without_unreadable(self, line: bytes) -> JSONRPCMessage | None:
        rest = leave_out_unreadable(line, self._watch.malformed)
        if rest is line:
            return None
        try:
            return jsonrpc_message_adapter.validate_json(rest, by_name=False)
        except ValidationError:
            return None

    def _fail_all(self) -> None:
        error = ErrorData(code=PARSE_ERROR, message="the server sent a message that cannot be read")
        failed = [JSONRPCError(jsonrpc="2.0", id=each, error=error) for each in self._unanswered]
        self._failures += [SessionMessage(each) for each in failed if not self._plain.take(each)]
        self._unanswered.clear()


class LineWriter(_Half):
    """The messages that go to a server."""

    def __init__(self, descriptor: int, watch: Watch, unanswered: set[RequestId]) -> None:
        super().__init__(descriptor)
        self._watch = watch
        self._unanswered = unanswered
        self._turn = asyncio.Lock()
        self._finishing: set[asyncio.Task[None]] = set()

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message of the SDK's whole. Raises BrokenResourceError where the server is gone."""
        try:
            await self.write(item.message)
        except OSError:
            raise anyio.BrokenResourceError from None

    async def write(self, message: JSONRPCMessage) -> None:
        """Write one message whole. Raises OSError where the server is gone or does not read."""
        if isinstance(message, JSONRPCRequest):
            self._unanswered.add(message.id)
        line = memoryview(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        await self._turn.acquire()
        try:
            rest = line[self._write(line) :]
        except OSError:
            self._turn.release()
            raise
        if not rest:
            self._turn.release()
            return
        # A cancelled caller must not leave half a line behind, so the rest has a task of its own.
        finishing = asyncio.get_running_loop().create_task(self._finish(rest))
        self._finishing.add(finishing)
        finishing.add_done_callback(self._finishing.discard)
        await asyncio.shield(finishing)

    async def _finish(self, rest: memoryview) -> None:
        try:
            async with asyncio.timeout(WRITE_SECONDS):
                while rest:
                    await anyio.wait_writable(self._descriptor)
                    rest = rest[self._write(rest) :]
        except TimeoutError:
            self._watch.end(f"it left a message unread for {WRITE_SECONDS:g} seconds")
            raise BrokenPipeError from None
        finally:
            self._turn.release()

    def _write(self, rest: memoryview) -> int:
        if not self._is_open:
            raise BrokenPipeError
        try:
            return os.write(self._descriptor, rest)
        except BlockingIOError:
            return 0
