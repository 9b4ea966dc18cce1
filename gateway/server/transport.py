"""uvicorn's WebSocket with ten additions: it can drop a peer that does not read, answers a handshake that cannot be read,
limits fragments, pings and pongs, logs no refusals, reads a few small messages ahead, sends a text that is encoded already, and
at once where nothing is in its way, answers a message that is too large before it closes, and asks a peer twice whether it is
there.

An ASGI `websocket.close` waits like any other message until the peer has read what came before, and so does closing the
transport; a peer that reads nothing would keep both open without limit. Empty fragments do not count towards the size of a
message, so their number needs its own limit. And a client's invalid input is no error of the gateway: uvicorn alone logs
one for every refused handshake, and a traceback for text that is not UTF-8. uvicorn alone also stops reading the socket with each
message and begins again when it was taken, which costs every call two system calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.protocol import State

from gateway.protocol.codec import TOO_LARGE, encode_error
from gateway.server.message_budget import TokenBucket

EXTENSION = "countersign.hang_up"
"""Its key in the extensions of the ASGI scope."""

CLOSING_SECONDS = 2.0
"""Seconds for a peer that reads again to receive the close frame."""

FRAGMENTS = 1024
"""Fragments of one message: 256 KiB in fragments of 256 bytes. Browsers send a message in one."""

FRAGMENTS_AT_ONCE = 4 * FRAGMENTS
FRAGMENTS_PER_SECOND = 256.0
"""Of all messages together: a message in a thousand fragments costs as much as a thousand messages and is counted as one."""

CONTROLS_AT_ONCE = 64.0
CONTROLS_PER_SECOND = 4.0
"""Pings and pongs of a peer. Pages cannot send any of their own accord; programs ping every twenty seconds or so."""

PIECE = 4 * 1024
"""Bytes that are taken apart at a time: a flood is seen after some hundred frames, and not after all that was read of it, which
can be two megabytes of frames of a few bytes."""

PINGS = 2
"""Pings in a row that a peer may leave unanswered; after the last it is dropped."""

READ_AHEAD = 8
"""Messages that may wait for the application while the socket is still read."""

SMALL_MESSAGE = 8 * 1024
"""Bytes. With a longer one the socket is read no further until it was taken, so that no more than 64 KiB wait besides."""

_NO_HANDSHAKE = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"

_TOO_LARGE = encode_error(None, TOO_LARGE)

HangUp = Callable[[int, str], None]

SendAtOnce = Callable[[bytes], bool]


class EncodedText:
    """A text as its UTF-8. uvicorn encodes the text of a message and does nothing else with it; an answer of thousands of tools
    is not decoded to be encoded again."""

    __slots__ = ("_octets",)

    def __init__(self, octets: bytes) -> None:
        self._octets = octets

    def encode(self) -> bytes:
        """As `str.encode`."""
        return self._octets


class SocketProtocol(WebSocketsSansIOProtocol):
    """The `ws` setting of uvicorn."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._missed = 0
        self._controls = TokenBucket(self.loop.time, at_once=CONTROLS_AT_ONCE, per_second=CONTROLS_PER_SECOND)
        self._fragments = TokenBucket(self.loop.time, at_once=FRAGMENTS_AT_ONCE, per_second=FRAGMENTS_PER_SECOND)
        fail = self.conn.fail

        def tell_and_fail(code: int, reason: str = "") -> None:
            # The parser calls it, and no code of ours runs before the close frame is written.
            if code == CloseCode.MESSAGE_TOO_BIG and self.conn.state is State.OPEN:
                self.conn.send_text(_TOO_LARGE)
            fail(code, reason)

        self.conn.fail = tell_and_fail

    def data_received(self, data: bytes) -> None:
        """asyncio.Protocol. uvicorn alone neither answers nor drops a handshake that cannot be read, such as one with a body."""
        for start in range(0, len(data), PIECE):
            super().data_received(data[start : start + PIECE])
            if self.transport.is_closing():
                return
        if self.conn.handshake_exc is not None and not self.handshake_initiated and not self.transport.is_closing():
            self.transport.write(_NO_HANDSHAKE)
            self.transport.close()

    async def run_asgi(self) -> None:
        """Add `hang_up` to the scope of the application."""
        self.scope.setdefault("extensions", {})[EXTENSION] = {"call": self.hang_up, "send": self.send_at_once}
        await super().run_asgi()

    async def send(self, message: Any) -> None:
        """A refusal completes the handshake, as acceptance does."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True

    def send_at_once(self, octets: bytes) -> bool:
        """Write a text message, as its UTF-8, if the connection is open and the peer reads. Otherwise it gives False and writes
        nothing: the message is then sent as any other, which waits for the peer or says what is wrong.

        An answer that is sent through every layer of the application takes five coroutines, none of which does anything with it.
        """
        if not self.writable.is_set() or self.disconnected or self.close_sent or not self.handshake_complete:
            return False
        if self.conn.state is not State.OPEN or self.initial_response is not None:
            return False
        self.conn.send_text(octets)
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    def hang_up(self, code: int, reason: str) -> None:
        """Append a close frame to the send buffer, and drop the connection soon, whether it was read or not."""
        if not self.close_sent and not self.transport.is_closing():
            self.conn.send_close(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.loop.call_later(CLOSING_SECONDS, self.transport.abort)

    def handle_ping(self) -> None:
        """The peer asks whether we are there."""
        if self._controls.spend():
            super().handle_ping()
        else:
            self._break_off(1008, "too many pings and pongs")

    def handle_pong(self, event: Frame) -> None:
        """The peer is there, if this answers the last ping."""
        if not self._controls.spend():
            self._break_off(1008, "too many pings and pongs")
            return
        super().handle_pong(event)
        if self.pending_ping_payload is None:
            self._missed = 0

    def keepalive_timeout(self) -> None:
        """A ping was not answered in time. A tab that was asleep, or a network that was away, is asked once more."""
        self._missed += 1
        if self._missed < PINGS:
            self.pong_timer = None
            self.send_keepalive_ping()
        else:
            super().keepalive_timeout()

    def handle_cont(self, event: Frame) -> None:
        """One more fragment of a message."""
        if len(self.frames) >= FRAGMENTS:
            self._break_off(1009, "message is in too many fragments")
        elif not self._fragments.spend():
            self._break_off(1008, "too many fragments")
        else:
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """A whole message."""
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_text(b"".join(self.frames)):
            self._break_off(1007, "text is not UTF-8")
            return
        if self.queue.qsize() >= READ_AHEAD or sum(map(len, self.frames)) > SMALL_MESSAGE:
            super().send_receive_event_to_app()
            return
        # uvicorn stops reading unless it has, so it is told that it has.
        paused, self.read_paused = self.read_paused, True
        super().send_receive_event_to_app()
        self.read_paused = paused

    def _break_off(self, code: int, reason: str) -> None:
        if self.close_sent:
            # Of a peer that was told already nothing more is read.
            self.transport.close()
            return
        self.conn.send_close(code, reason)
        self.handle_parser_exception()


def find_hang_up(scope: Scope) -> HangUp | None:
    """The function that drops the connection, if the server has one."""
    offered = scope.get("extensions", {}).get(EXTENSION)
    return None if offered is None else cast("HangUp", offered["call"])


def find_sender(scope: Scope) -> SendAtOnce:
    """The function that writes a message without waiting, if the server has one; otherwise one that writes nothing."""
    offered = scope.get("extensions", {}).get(EXTENSION)
    return _send_nothing if offered is None else cast("SendAtOnce", offered["send"])


def _send_nothing(_octets: bytes) -> bool:
    return False


def write_text(scope: Scope, octets: bytes) -> EncodedText | str:
    """What the `text` of a message may be with this server."""
    return EncodedText(octets) if EXTENSION in scope.get("extensions", {}) else octets.decode()


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
