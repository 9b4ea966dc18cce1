"""`/ws`: the handshake, and the exchange of messages between one socket and the methods of its origin.

One reader and one writer per connection. The reader never waits for an answer: each request has its own task, so that a
cancel is read while a call waits for a person. All output passes through the connection's outbox, which is bounded and
sends results, approvals and cancels before progress.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from gateway.core.errors import NotSignedIn, TooManyRequests, UnknownMethod
from gateway.core.model import Session
from gateway.core.vocabulary import Profile
from gateway.protocol.closing import MALFORMED_FRAMES_ALLOWED, CloseCause
from gateway.protocol.codec import Call, RejectedMessage, admit, decode, encode_error, encode_result
from gateway.protocol.frames import MAX_MESSAGE_BYTES, SUBPROTOCOL
from gateway.protocol.handshake import HandshakeRequest, HandshakeVerdict, judge_handshake
from gateway.protocol.wire import Wire
from gateway.runtime.asking import ask_for, require_asker
from gateway.runtime.connections import Connection, Outbox
from gateway.runtime.gateway import Gateway
from gateway.runtime.notices import SessionEndedNotice
from gateway.runtime.ports import Clock, ConsoleSession
from gateway.runtime.timing import FULL_SESSIONS, Timing
from gateway.server import responses
from gateway.server.message_budget import MessageBudget
from gateway.server.methods.agent import REQUESTS_IN_FLIGHT, AgentMethods
from gateway.server.methods.console import ConsoleCaller, ConsoleMethods
from gateway.server.methods.table import Caller, Concurrency, Method
from gateway.server.notifications import encode_notice
from gateway.server.reading_turns import ReadingTurns
from gateway.server.transport import find_hang_up, find_sender, write_text

STALL_SECONDS = 10.0
"""Seconds that one message may wait for the peer to read. Half a ping interval: a peer that answers pings reads faster."""

LARGE_ANSWER_BYTES = 256 * 1024
"""Bytes of an answer that is waited for: one of the largest frames that a peer may send itself."""

_log = logging.getLogger(__name__)

Who = TypeVar("Who", Session, ConsoleSession)


@dataclass(frozen=True, slots=True)
class Peer(Generic[Caller]):
    """A connected client. `is_live` is whether its session may still act."""

    caller: Caller
    outbox: Outbox
    is_live: Callable[[], bool]
    detach: Callable[[], None]


@dataclass(frozen=True, slots=True)
class SocketConfig(Generic[Who, Caller]):
    """How the agent's and the console's socket differ. `host` is `host[:port]`; `recognise` reads the session's cookie; `reads`
    is shared by both; `timing` says how many sockets a session may have open."""

    host: str
    origin: str
    recognise: Callable[[HTTPConnection], Awaitable[Who | None]]
    attach: Callable[[Who], Peer[Caller]]
    methods: Mapping[str, Method[Caller]]
    clock: Clock
    reads: ReadingTurns
    timing: Timing


class SocketEndpoint(Generic[Who, Caller]):
    """An ASGI app for one `/ws`."""

    def __init__(self, config: SocketConfig[Who, Caller]) -> None:
        self._config = config
        # asyncio keeps only weak references to tasks, and a request may outlive its connection.
        self._running: set[asyncio.Task[None]] = set()
        self._open: set[_Pump[Who, Caller]] = set()
        self._counts: Counter[str] = Counter()
        self._one_closed = asyncio.Event()
        self._leaving = False

    async def drain(self) -> None:
        """Take no new connection, close each one as soon as its requests are answered, and return when all are closed."""
        self._leaving = True
        for pump in tuple(self._open):
            pump.leave()
        while self._open:
            self._one_closed.clear()
            await self._one_closed.wait()

    def is_full(self, session: Session | ConsoleSession) -> bool:
        """Whether this session, or its person, has as many sockets as they may have."""
        counts, most = self._counts, self._config.timing.sockets
        return counts[session.id] >= most or counts[session.principal.id] >= most * FULL_SESSIONS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the handshake, then serve the connection until it ends."""
        websocket: WebSocket = WebSocket(scope, receive, send)
        if self._leaving:
            await websocket.send_denial_response(responses.refuse(responses.STOPPING))
            return
        headers = websocket.headers
        offer = HandshakeRequest(headers.getlist("host"), headers.getlist("origin"), websocket.scope["subprotocols"])
        verdict = judge_handshake(offer, host=self._config.host, origin=self._config.origin)
        session = await self._config.recognise(websocket) if verdict is HandshakeVerdict.WELCOME else None
        if session is None:
            await _deny(websocket, HandshakeVerdict.NO_SESSION if verdict is HandshakeVerdict.WELCOME else verdict)
        elif self.is_full(session):
            await _deny(websocket, HandshakeVerdict.TOO_MANY_SOCKETS)
        else:
            # Counted from before the handshake ends: many at once must not all find room for one.
            self._counts.update(whose := (session.id, session.principal.id))
            try:
                await self._serve(websocket)
            finally:
                self._counts.subtract(whose)
                self._counts = +self._counts

    async def _serve(self, websocket: WebSocket) -> None:
        try:
            await websocket.accept(subprotocol=SUBPROTOCOL)
        except OSError:
            return
        # Looked up again: the session may have ended during the handshake. From here to the registration no other
        # task runs.
        session = await self._config.recognise(websocket)
        if session is None:
            with contextlib.suppress(WebSocketDisconnect):
                await websocket.close(CloseCause.SESSION_ENDED.code, CloseCause.SESSION_ENDED.reason)
            return
        peer = self._config.attach(session)
        pump = _Pump(websocket, peer, self._config, self._running)
        self._open.add(pump)
        if self._leaving:
            pump.leave()
        try:
            await pump.run()
        finally:
            self._open.discard(pump)
            self._one_closed.set()
            peer.detach()


class _Pump(Generic[Who, Caller]):
    """One open connection."""

    def __init__(
        self, websocket: WebSocket, peer: Peer[Caller], config: SocketConfig[Who, Caller], running: set[asyncio.Task[None]]
    ) -> None:
        self._websocket = websocket
        self._peer = peer
        self._outbox = peer.outbox
        self._methods = config.methods
        self._reads = config.reads
        self._budget = MessageBudget(config.clock)
        self._running = running
        self._in_flight = 0
        self._waiting: set[asyncio.Task[None]] = set()
        self._turnstile = asyncio.Lock()
        self._malformed = 0
        self._floods = False
        self._leaving = False
        self._all_sent = asyncio.Event()
        self._ended = False
        self._reading = asyncio.timeout(None)
        self._send_at_once = find_sender(websocket.scope)

    async def run(self) -> None:
        """Read and write until either side closes."""
        writer = asyncio.get_running_loop().create_task(self._write())
        try:
            # The writer ends the reading through this timeout, when the peer does not even take a close frame.
            with contextlib.suppress(TimeoutError):
                async with self._reading:
                    await self._read()
        finally:
            self._ended = True
            self._all_sent.set()
            writer.cancel()
            for task in self._waiting:
                task.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    def leave(self) -> None:
        """Close as soon as every request has its answer."""
        self._leaving = True
        self._close_if_answered()

    def _close_if_answered(self) -> None:
        if self._leaving and not self._in_flight:
            self._close(CloseCause.STOPPING)

    # ── input ──

    async def _read(self) -> None:
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            # After the decision to close, messages are read and ignored, so that the peer's close frame is received.
            if self._outbox.closing is None:
                self._take(message)
            if self._floods:
                # Hundreds of its messages are here already, and everybody else's turn comes in between.
                self._floods = False
                await asyncio.sleep(0)

    def _take(self, message: Message) -> None:
        text: str | None = message.get("text")
        if text is None:
            self._close(CloseCause.BINARY_FRAME)
            return
        raw = text.encode()
        if len(raw) > MAX_MESSAGE_BYTES:
            self._close(CloseCause.OVERSIZED_MESSAGE)
            return
        if not self._peer.is_live():
            self._end_session(CloseCause.SESSION_EXPIRED)
            return
        read = decode(raw)
        if isinstance(read, RejectedMessage):
            self._refuse(read)
        elif not self._budget.spend():
            self._refuse_flood(read, "too many messages at once; slow down")
        elif self._in_flight >= REQUESTS_IN_FLIGHT:
            self._refuse_flood(read, f"{REQUESTS_IN_FLIGHT} requests are in flight already")
        else:
            self._start(read)

    def _refuse_flood(self, call: Call, why: str) -> None:
        self._outbox.put(encode_error(call.id, TooManyRequests(why)))
        self._floods = True

    def _refuse(self, fault: RejectedMessage) -> None:
        self._outbox.put(encode_error(fault.id, fault.error))
        if fault.malformed:
            self._malformed += 1
            if self._malformed >= MALFORMED_FRAMES_ALLOWED:
                self._close(CloseCause.MALFORMED_FRAMES)

    def _start(self, call: Call) -> None:
        method = self._methods.get(call.method)
        if method is None:
            # The client's text is cut, so that an error cannot be used to echo a message.
            self._outbox.put(encode_error(call.id, UnknownMethod(f"there is no method `{call.method[:64]}` here")))
            return
        self._in_flight += 1
        task = asyncio.get_running_loop().create_task(self._answer(call, method))
        group = self._waiting if method.row.concurrency is Concurrency.WAITING else self._running
        group.add(task)
        task.add_done_callback(group.discard)

    async def _answer(self, call: Call, method: Method[Caller]) -> None:
        try:
            params = admit(method.params, call.params, may_hold_null=call.may_hold_null)
            if method.row.concurrency is not Concurrency.IN_ORDER:
                reply = await self._reply(call, method, params)
            else:
                async with self._turnstile:
                    reply = await self._reply(call, method, params)
        except NotSignedIn:
            # A session that was ended has closed this socket already, so this one has expired.
            self._end_session(CloseCause.SESSION_EXPIRED)
            return
        except Exception as error:  # noqa: BLE001 - after any error in a handler there is an answer and the connection stays
            if not responses.is_expected(error):
                _log.exception("`%s` failed", call.method)
            reply = encode_error(call.id, error)
        finally:
            self._in_flight -= 1
        if reply is not None:
            self._outbox.put(reply)
        self._close_if_answered()

    async def _reply(self, call: Call, method: Method[Caller], params: Wire) -> bytes | None:
        """The answer; None where it is on its way already."""
        ask_for(self._peer.is_live)
        if method.row.reads_much:
            await self._read_much(call, method, params)
            return None
        return encode_result(call.id, await method.answer(self._peer.caller, params))

    async def _read_much(self, call: Call, method: Method[Caller], params: Wire) -> None:
        """Answer when it is this person's turn, which lasts until a large answer is sent: many of these would fill the memory."""
        async with self._reads.turn(self._peer.caller.principal.id):
            if self._ended:
                return
            require_asker()
            reply = encode_result(call.id, await method.answer(self._peer.caller, params))
            self._all_sent.clear()
            self._outbox.put(reply)
            if len(reply) > LARGE_ANSWER_BYTES and not self._ended and self._outbox.closing is None:
                await self._all_sent.wait()

    # ── output ──

    async def _write(self) -> None:
        try:
            while True:
                await self._outbox.wait()
                while (message := self._outbox.take()) is not None:
                    octets = message if isinstance(message, bytes) else encode_notice(message)
                    if not self._send_at_once(octets):
                        sent = {"type": "websocket.send", "text": write_text(self._websocket.scope, octets)}
                        await self._within_stall_limit(self._websocket.send(sent))
                self._all_sent.set()
                if self._outbox.closing is not None:
                    code, reason = self._outbox.closing
                    await self._within_stall_limit(self._websocket.close(code, reason))
                    return
        except WebSocketDisconnect:
            return

    async def _within_stall_limit(self, sending: Coroutine[Any, Any, None]) -> None:
        """Send; hang up when the peer does not read in time. A plain timer, because it is set for every message."""
        alarm = asyncio.get_running_loop().call_later(STALL_SECONDS, self._hang_up)
        try:
            await sending
        finally:
            alarm.cancel()

    def _hang_up(self) -> None:
        """Drop a peer that does not read, which would not read a close frame either. Ending the reading ends the writing too."""
        hang_up = find_hang_up(self._websocket.scope)
        if hang_up is not None:
            hang_up(CloseCause.SLOW_READER.code, CloseCause.SLOW_READER.reason)
        self._reading.reschedule(asyncio.get_running_loop().time())

    def _close(self, closing: CloseCause) -> None:
        self._outbox.close(closing.code, closing.reason)

    def _end_session(self, closing: CloseCause) -> None:
        self._outbox.put(SessionEndedNotice(closing.reason))
        self._close(closing)


async def _deny(websocket: WebSocket, verdict: HandshakeVerdict) -> None:
    await websocket.send_denial_response(responses.refuse(responses.refusal_of(verdict)))


def agent_socket(
    gateway: Gateway,
    methods: AgentMethods,
    *,
    host: str,
    origin: str,
    recognise: Callable[[HTTPConnection], Awaitable[Session | None]],
    reads: ReadingTurns,
) -> SocketEndpoint[Session, Connection]:
    """`/ws` of the agent origin."""
    connections, clock, entropy = gateway.connections, gateway.ports.clock, gateway.ports.entropy

    def attach(session: Session) -> Peer[Connection]:
        connection = connections.attach(session, entropy.identifier("con_"))
        return Peer(
            caller=connection,
            outbox=connection.outbox,
            is_live=lambda: connections.is_live(session.id, clock.now()),
            detach=lambda: connections.detach(connection),
        )

    return SocketEndpoint(SocketConfig(host, origin, recognise, attach, methods.table(), clock, reads, gateway.timing))


def console_socket(
    gateway: Gateway,
    methods: ConsoleMethods,
    *,
    host: str,
    origin: str,
    recognise: Callable[[HTTPConnection], Awaitable[ConsoleSession | None]],
    reads: ReadingTurns,
) -> SocketEndpoint[ConsoleSession, ConsoleCaller]:
    """`/ws` of the console origin."""
    connections, clock, entropy = gateway.connections, gateway.ports.clock, gateway.ports.entropy

    def attach(session: ConsoleSession) -> Peer[ConsoleCaller]:
        is_operator = session.principal.profile is Profile.OPERATOR
        connection_id = entropy.identifier("con_")
        console = connections.attach_console(session.principal.id, session.id, connection_id, is_operator=is_operator)
        return Peer(
            caller=ConsoleCaller(console, session),
            outbox=console.outbox,
            # A renewed session expires later than the one that opened this socket; its end closes the outbox.
            is_live=lambda: console.outbox.closing is None and not connections.is_barred(session.principal.id),
            detach=lambda: connections.detach_console(console),
        )

    return SocketEndpoint(SocketConfig(host, origin, recognise, attach, methods.table(), clock, reads, gateway.timing))
