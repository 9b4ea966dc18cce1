"""`/ws`: the handshake, and the pump between one socket and the methods of its origin.

One reader and one writer per connection. The reader never waits for an answer: each request runs beside it, so that a
cancel gets through while a call waits for a person. Everything that goes out passes the connection's outbox, which is
bounded and puts results, approvals and cancels ahead of progress.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from gateway.core.errors import NotSignedIn, TooManyRequests, UnknownMethod
from gateway.core.model import Session
from gateway.protocol.closing import MALFORMED_FRAMES_ALLOWED, Closing
from gateway.protocol.codec import Call, Fault, admit, decode, encode_error, encode_notification, encode_result
from gateway.protocol.frames import MAX_MESSAGE_BYTES, SUBPROTOCOL
from gateway.protocol.handshake import HandshakeVerdict, Offer, judge_handshake
from gateway.protocol.notifications import SessionEnded
from gateway.runtime.connections import Connection, Outbox
from gateway.runtime.gateway import Gateway
from gateway.runtime.ports import Clock, ConsoleSession
from gateway.server import responses
from gateway.server.methods.agent import REQUESTS_IN_FLIGHT, AgentMethods
from gateway.server.methods.console import ConsoleCaller, ConsoleMethods
from gateway.server.methods.table import Method, Pace
from gateway.server.transport import find_hang_up

MESSAGES_PER_SECOND = 2_000.0
"""One connection's messages in the long run. A busy loop makes some ten a second, a benchmark with one caller a thousand;
above this a client is flooding, and refusing costs less than answering."""

MESSAGES_AT_ONCE = 4_000.0

STALL_SECONDS = 10.0
"""How long one message may wait for the peer to read. Half a ping interval: whoever answers pings reads faster."""

_log = logging.getLogger(__name__)

Who = TypeVar("Who", Session, ConsoleSession)
Caller = TypeVar("Caller")


@dataclass(frozen=True, slots=True)
class Peer(Generic[Caller]):
    """Somebody who is connected. `is_live` says whether their session may still act."""

    caller: Caller
    outbox: Outbox
    is_live: Callable[[], bool]
    detach: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Door(Generic[Who, Caller]):
    """What makes a socket the agent's or the console's. `host` is `host[:port]`; `recognise` reads the session's cookie."""

    host: str
    origin: str
    recognise: Callable[[HTTPConnection], Awaitable[Who | None]]
    attach: Callable[[Who], Peer[Caller]]
    methods: Mapping[str, Method[Caller]]
    clock: Clock


class SocketEndpoint(Generic[Who, Caller]):
    """An ASGI app for one `/ws`."""

    def __init__(self, door: Door[Who, Caller]) -> None:
        self._door = door
        # asyncio keeps only weak references to tasks, and a request may outlive its connection.
        self._running: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge the handshake, then serve the connection until it ends."""
        websocket: WebSocket = WebSocket(scope, receive, send)
        verdict = self._judge(websocket)
        if verdict is HandshakeVerdict.WELCOME and await self._door.recognise(websocket) is None:
            verdict = HandshakeVerdict.NO_SESSION
        if verdict is not HandshakeVerdict.WELCOME:
            fault = responses.Fault(verdict.value, verdict.name.lower(), verdict.message)
            await websocket.send_denial_response(responses.refuse(fault))
            return
        try:
            await websocket.accept(subprotocol=SUBPROTOCOL)
        except OSError:
            return
        # Looked up once more: the session may have ended while the handshake was on its way, and from here to the
        # registration nothing else runs.
        session = await self._door.recognise(websocket)
        if session is None:
            await _close(websocket, Closing.SESSION_ENDED)
            return
        peer = self._door.attach(session)
        try:
            await _Pump(websocket, peer, self._door, self._running).run()
        finally:
            peer.detach()

    def _judge(self, websocket: WebSocket) -> HandshakeVerdict:
        headers = websocket.headers
        offer = Offer(headers.getlist("host"), headers.getlist("origin"), websocket.scope["subprotocols"])
        return judge_handshake(offer, host=self._door.host, origin=self._door.origin)


class _Pump(Generic[Who, Caller]):
    """One open connection."""

    def __init__(
        self, websocket: WebSocket, peer: Peer[Caller], door: Door[Who, Caller], running: set[asyncio.Task[None]]
    ) -> None:
        self._websocket = websocket
        self._peer = peer
        self._outbox = peer.outbox
        self._methods = door.methods
        self._budget = _Budget(door.clock)
        self._running = running
        self._in_flight = 0
        self._waiting: set[asyncio.Task[None]] = set()
        self._turnstile = asyncio.Lock()
        self._malformed = 0
        self._reading = asyncio.timeout(None)

    async def run(self) -> None:
        """Read and write until either side hangs up."""
        writer = asyncio.get_running_loop().create_task(self._write())
        try:
            # The writer ends the reading through this timeout, for a peer that it cannot even say goodbye to.
            with contextlib.suppress(TimeoutError):
                async with self._reading:
                    await self._read()
        finally:
            writer.cancel()
            for task in self._waiting:
                task.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    # ── in ──

    async def _read(self) -> None:
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            # What arrives after we decided to close is read, so that the peer's own close gets through, and ignored.
            if self._outbox.closing is None:
                self._take(message)

    def _take(self, message: Message) -> None:
        text: str | None = message.get("text")
        if text is None:
            self._close(Closing.BINARY_FRAME)
            return
        raw = text.encode()
        if len(raw) > MAX_MESSAGE_BYTES:
            self._close(Closing.OVERSIZED_MESSAGE)
            return
        if not self._peer.is_live():
            self._say_ended(Closing.SESSION_EXPIRED)
            return
        read = decode(raw)
        if isinstance(read, Fault):
            self._refuse(read)
        elif not self._budget.spend():
            self._outbox.put(encode_error(read.id, TooManyRequests("too many messages at once; slow down")))
        elif self._in_flight >= REQUESTS_IN_FLIGHT:
            self._outbox.put(encode_error(read.id, TooManyRequests(f"{REQUESTS_IN_FLIGHT} requests are in flight already")))
        else:
            self._start(read)

    def _refuse(self, fault: Fault) -> None:
        self._outbox.put(encode_error(fault.id, fault.error))
        if fault.malformed:
            self._malformed += 1
            if self._malformed >= MALFORMED_FRAMES_ALLOWED:
                self._close(Closing.MALFORMED_FRAMES)

    def _start(self, call: Call) -> None:
        method = self._methods.get(call.method)
        if method is None:
            # The client's own text, so cut: an error must not be a way to have a message echoed.
            self._outbox.put(encode_error(call.id, UnknownMethod(f"there is no method `{call.method[:64]}` here")))
            return
        self._in_flight += 1
        task = asyncio.get_running_loop().create_task(self._answer(call, method))
        group = self._waiting if method.pace is Pace.WAITING else self._running
        group.add(task)
        task.add_done_callback(group.discard)

    async def _answer(self, call: Call, method: Method[Caller]) -> None:
        try:
            params = admit(method.params, call.params)
            if method.pace is Pace.IN_ORDER:
                async with self._turnstile:
                    result = await method.answer(self._peer.caller, params)
            else:
                result = await method.answer(self._peer.caller, params)
            reply = encode_result(call.id, result)
        except NotSignedIn:
            # A session that was ended has closed this socket already, so this one ran out.
            self._say_ended(Closing.SESSION_EXPIRED)
            return
        except Exception as error:  # noqa: BLE001 - whatever a handler does wrong, it answers and the connection stays
            if not responses.is_expected(error):
                _log.exception("`%s` failed", call.method)
            reply = encode_error(call.id, error)
        finally:
            self._in_flight -= 1
        self._outbox.put(reply)

    # ── out ──

    async def _write(self) -> None:
        try:
            while True:
                await self._outbox.wait()
                while (message := self._outbox.take()) is not None:
                    await self._within_patience(self._websocket.send({"type": "websocket.send", "text": message.decode()}))
                if self._outbox.closing is not None:
                    code, reason = self._outbox.closing
                    await self._within_patience(self._websocket.close(code, reason))
                    return
        except WebSocketDisconnect:
            return

    async def _within_patience(self, sending: Coroutine[Any, Any, None]) -> None:
        """Send, for as long as a peer may take to read. A bare timer: every message pays for this, and hardly any waits."""
        alarm = asyncio.get_running_loop().call_later(STALL_SECONDS, self._hang_up)
        try:
            await sending
        finally:
            alarm.cancel()

    def _hang_up(self) -> None:
        """The peer does not read, and would not read a close frame either. Ending the reading ends the writing too."""
        hang_up = find_hang_up(self._websocket.scope)
        if hang_up is not None:
            hang_up(Closing.SLOW_READER.code, Closing.SLOW_READER.reason)
        self._reading.reschedule(asyncio.get_running_loop().time())

    def _close(self, closing: Closing) -> None:
        self._outbox.close(closing.code, closing.reason)

    def _say_ended(self, closing: Closing) -> None:
        self._outbox.put(encode_notification("session/ended", SessionEnded(reason=closing.reason)))
        self._close(closing)


class _Budget:
    """A token bucket: `MESSAGES_AT_ONCE` deep, filled at `MESSAGES_PER_SECOND`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._left = MESSAGES_AT_ONCE
        self._filled_at = clock.monotonic()

    def spend(self) -> bool:
        """Take one message's worth; False when there is none left."""
        now = self._clock.monotonic()
        self._left = min(MESSAGES_AT_ONCE, self._left + (now - self._filled_at) * MESSAGES_PER_SECOND)
        self._filled_at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


async def _close(websocket: WebSocket, closing: Closing) -> None:
    with contextlib.suppress(WebSocketDisconnect):
        await websocket.close(closing.code, closing.reason)


def agent_socket(
    gateway: Gateway,
    methods: AgentMethods,
    *,
    host: str,
    origin: str,
    recognise: Callable[[HTTPConnection], Awaitable[Session | None]],
) -> SocketEndpoint[Session, Connection]:
    """`/ws` of the agent origin."""
    hub, clock, entropy = gateway.hub, gateway.ports.clock, gateway.ports.entropy

    def attach(session: Session) -> Peer[Connection]:
        connection = hub.attach(session, entropy.identifier("con_"))
        return Peer(
            caller=connection,
            outbox=connection.outbox,
            is_live=lambda: hub.is_live(session.id, clock.now()),
            detach=lambda: hub.detach(connection),
        )

    return SocketEndpoint(Door(host, origin, recognise, attach, methods.table(), clock))


def console_socket(
    gateway: Gateway,
    methods: ConsoleMethods,
    *,
    host: str,
    origin: str,
    recognise: Callable[[HTTPConnection], Awaitable[ConsoleSession | None]],
) -> SocketEndpoint[ConsoleSession, ConsoleCaller]:
    """`/ws` of the console origin."""
    hub, clock, entropy = gateway.hub, gateway.ports.clock, gateway.ports.entropy

    def attach(session: ConsoleSession) -> Peer[ConsoleCaller]:
        console = hub.attach_console(session.principal.id, session.id, entropy.identifier("con_"))
        return Peer(
            caller=ConsoleCaller(console, session),
            outbox=console.outbox,
            # A renewed session lives longer than the one that opened this socket; its end closes the outbox.
            is_live=lambda: console.outbox.closing is None,
            detach=lambda: hub.detach_console(console),
        )

    return SocketEndpoint(Door(host, origin, recognise, attach, methods.table(), clock))
