"""uvicorn's WebSocket with what it lacks: a way to hang up on a peer that does not read, an end to fragments, quiet refusals.

An ASGI `websocket.close` waits like any other message until the peer has read what came before, and so does closing the
transport; a peer that reads nothing would keep both for as long as it likes. Empty fragments count nothing towards the size
of a message, so their number needs a bound of its own. And what a stranger sends wrong is no error of ours: uvicorn alone
logs one for every handshake that is refused, and a traceback for text that is not UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

EXTENSION = "countersign.hang_up"
"""Where the ASGI scope carries it."""

FAREWELL_SECONDS = 2.0
"""For a peer that has begun to read again to see the close frame."""

FRAGMENTS = 1024
"""Of one message. 256 KiB in pieces of 256 bytes; browsers send a message in one."""

HangUp = Callable[[int, str], None]


class SocketProtocol(WebSocketsSansIOProtocol):
    """To be given to uvicorn as its `ws`."""

    async def run_asgi(self) -> None:
        """Offer `hang_up` to the application."""
        self.scope.setdefault("extensions", {})[EXTENSION] = {"call": self.hang_up}
        await super().run_asgi()

    async def send(self, message: Any) -> None:
        """A refusal ends the handshake as well as a welcome does."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True

    def hang_up(self, code: int, reason: str) -> None:
        """Put a close frame behind what waits, and drop the connection soon, read or not."""
        if not self.close_sent and not self.transport.is_closing():
            self.conn.send_close(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.loop.call_later(FAREWELL_SECONDS, self.transport.abort)

    def handle_cont(self, event: Frame) -> None:
        """One more fragment of a message."""
        if len(self.frames) < FRAGMENTS:
            super().handle_cont(event)
        elif not self.close_sent:
            self._break_off(1009, "message is in too many fragments")

    def send_receive_event_to_app(self) -> None:
        """A whole message."""
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_text(b"".join(self.frames)):
            self._break_off(1007, "text is not UTF-8")
            return
        super().send_receive_event_to_app()

    def _break_off(self, code: int, reason: str) -> None:
        self.conn.send_close(code, reason)
        self.handle_parser_exception()


def find_hang_up(scope: Scope) -> HangUp | None:
    """The way to hang up, where the server offers one."""
    offered = scope.get("extensions", {}).get(EXTENSION)
    return None if offered is None else cast("HangUp", offered["call"])


def _is_text(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
