"""Messages of one MCP client over a pair of byte streams, one message a line.

One reader and one writer, as for a socket of the web shell. All output passes through the connection's outbox, which is bounded;
what the SDK wants to say is put there, and what the runtime says unasked is handed to the client's calls.

A line that begins with `#` is none of the protocol's: the program at the other end prints it on standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.jsonrpc import jsonrpc_message_adapter

from gateway.core.effects import escape
from gateway.core.errors import InvalidRequest, TooManyRequests
from gateway.protocol.closing import MALFORMED_FRAMES_ALLOWED, CloseCause
from gateway.protocol.codec import CallKey, RejectedMessage, encode_error
from gateway.runtime.notices import Notice, PolicyChangedNotice, SnapshotRevokedNotice
from gateway.runtime.ports import Clock
from gateway.server.mcp.lines import OversizedLine, PeerNotification, PeerReply, PeerRequest, judge_line, read_lines
from gateway.server.mcp.plain_calls import CANCELLED, PlainCall, PlainCalls
from gateway.server.mcp.protocol_server import Context, ProtocolServer
from gateway.server.mcp.tool_client import ToolClient
from gateway.server.message_budget import MessageBudget

REQUESTS_IN_FLIGHT: Final = 32
"""As for a socket of the web shell (docs/PROTOCOL.md section 2)."""

STALL_SECONDS: Final = 10.0
"""How long a client may not read before it is dropped."""

ENDING_SECONDS: Final = 5.0
"""How long the last answers may take after the client has said its last word."""

_HEARD: Final = frozenset({CANCELLED, "notifications/initialized"})
"""The notifications of a client that have an effect."""

_log = logging.getLogger(__name__)

_Messages = MemoryObjectReceiveStream[SessionMessage]


class LineExchange:
    """Serves one client until either side ends."""

    def __init__(self, client: ToolClient, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, clock: Clock) -> None:
        self._client = client
        self._outbox = client.connection.outbox
        self._protocol = ProtocolServer(self._find)
        self._calls = PlainCalls(partial(self._protocol.call_plainly, client), self._outbox.put, self._answered)
        self._reader = reader
        self._writer = writer
        self._budget = MessageBudget(clock)
        self._in_flight: set[CallKey] = set()
        self._malformed = 0
        self._leaving = False

    async def run(self) -> None:
        """Return when the client has gone, or when it was told why it must."""
        inbound, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        answers, outbound = anyio.create_memory_object_stream[SessionMessage]()
        serving = _start(self._protocol.server.run(requests, answers, self._protocol.options))
        telling = _start(self._tell(outbound))
        writing = _start(self._write())
        reading = _start(self._read(inbound))
        try:
            await asyncio.wait((reading, writing, serving), return_when=asyncio.FIRST_COMPLETED)
            # The SDK cancels what is under way at the end of the input, and answers it where somebody still reads.
            reading.cancel()
            inbound.close()
            await asyncio.wait((serving, _start(self._calls.close())), timeout=ENDING_SECONDS)
            self._outbox.close(CloseCause.SESSION_ENDED.code, "")
            await asyncio.wait((writing,), timeout=ENDING_SECONDS)
        finally:
            tasks = (reading, serving, telling, writing)
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(ended, Exception):
                    _log.error("a connection of an MCP client broke", exc_info=ended)
            outbound.close()
            self._client.close()

    def leave(self) -> None:
        """Close as soon as every request has its answer."""
        self._leaving = True
        self._protocol.leave()
        self._close_if_answered()

    # ── input ──

    async def _read(self, inbound: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        with contextlib.suppress(ConnectionError):
            async for line in read_lines(self._reader):
                if self._outbox.closing is not None:
                    return
                if not self._client.is_live:
                    self._outbox.close(CloseCause.SESSION_EXPIRED.code, "the session has expired")
                    return
                message = self._admit(line)
                if message is not None:
                    await inbound.send(message)

    def _admit(self, line: bytes | OversizedLine) -> SessionMessage | None:
        """The message for the SDK; None for one that is answered here, or has no effect."""
        judged = judge_line(line)
        match judged:
            case RejectedMessage():
                self._refuse(judged)
            case PeerNotification(method) if method in _HEARD and self._budget.spend():
                if method == CANCELLED and self._calls.cancel(judged.message):
                    return None
                return SessionMessage(jsonrpc_message_adapter.validate_python(judged.message, by_name=False))
            case PeerNotification() | PeerReply():
                self._budget.spend()
            case PeerRequest(request_id) if not self._budget.spend():
                self._outbox.put(encode_error(request_id, TooManyRequests("too many messages at once; slow down")))
            case PeerRequest(request_id) if len(self._in_flight) >= REQUESTS_IN_FLIGHT:
                refusal = TooManyRequests(f"{REQUESTS_IN_FLIGHT} requests are in flight already")
                self._outbox.put(encode_error(request_id, refusal))
            case PeerRequest(request_id) if _key(request_id) in self._in_flight:
                self._outbox.put(encode_error(request_id, InvalidRequest("a request with this id is in flight already")))
            case PeerRequest(request_id):
                self._in_flight.add(_key(request_id))
                if self._protocol.has_greeted(self._client) and (call := PlainCall.read(request_id, judged.message)):
                    self._calls.start(call)
                    return None
                return self._track(request_id, judged.message)
        return None

    def _track(self, request_id: CallKey, message: dict[str, Any]) -> SessionMessage:
        async def unanswered() -> None:
            self._answered(request_id)

        metadata = ServerMessageMetadata(on_request_unanswered=unanswered)
        return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False), metadata)

    def _refuse(self, fault: RejectedMessage) -> None:
        self._outbox.put(encode_error(fault.id, fault.error))
        if fault.malformed:
            self._malformed += 1
            if self._malformed >= MALFORMED_FRAMES_ALLOWED:
                self._outbox.close(CloseCause.MALFORMED_FRAMES.code, CloseCause.MALFORMED_FRAMES.reason)

    def _answered(self, request_id: CallKey) -> None:
        self._in_flight.discard(_key(request_id))
        self._close_if_answered()

    def _close_if_answered(self) -> None:
        if self._leaving and not self._in_flight:
            self._outbox.close(CloseCause.STOPPING.code, CloseCause.STOPPING.reason)

    # ── output ──

    async def _tell(self, outbound: _Messages) -> None:
        """What the SDK says goes into the outbox."""
        async for sent in outbound:
            match sent.message:
                case JSONRPCResponse(id=request_id) | JSONRPCError(id=request_id):
                    self._outbox.put(_encode(sent))
                    if request_id is not None:
                        self._answered(request_id)
                case JSONRPCNotification() | JSONRPCRequest():
                    self._outbox.put(_encode(sent))

    async def _write(self) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                await self._outbox.wait()
                while (message := self._outbox.take()) is not None:
                    if isinstance(message, bytes):
                        await self._send(message)
                    else:
                        await self._hear(message)
                if self._outbox.closing is not None:
                    _, reason = self._outbox.closing
                    if reason:
                        await self._send(f"# the gateway closes this connection: {escape(reason)}".encode())
                    return

    async def _send(self, line: bytes) -> None:
        if self._writer.is_closing():
            # uvloop raises RuntimeError for a write after the other side has gone.
            raise ConnectionAbortedError("the client has gone")
        self._writer.write(line + b"\n")
        if not self._writer.transport.get_write_buffer_size():
            return
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await self._writer.drain()
        except TimeoutError:
            self._writer.transport.abort()
            raise ConnectionAbortedError("the client does not read") from None

    async def _hear(self, notice: Notice) -> None:
        await self._client.hear(notice)
        if isinstance(notice, PolicyChangedNotice | SnapshotRevokedNotice):
            await self._protocol.announce_changes(self._client)

    async def _find(self, _ctx: Context) -> ToolClient:
        return self._client


def _encode(sent: SessionMessage) -> bytes:
    return sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _key(request_id: CallKey) -> CallKey:
    """The SDK takes 7 and "7" for one id, so they are one here."""
    return str(request_id)


def _start(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(work)
