"""uvicorn's WebSocket with the one thing it lacks: a way to hang up on a peer that does not read.

An ASGI `websocket.close` waits like any other message until the peer has read what came before, and so does closing the
transport; a peer that reads nothing would keep both for as long as it likes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

EXTENSION = "countersign.hang_up"
"""Where the ASGI scope carries it."""

FAREWELL_SECONDS = 2.0
"""For a peer that has begun to read again to see the close frame."""

HangUp = Callable[[int, str], None]


class SocketProtocol(WebSocketsSansIOProtocol):
    """To be given to uvicorn as its `ws`."""

    async def run_asgi(self) -> None:
        """Offer `hang_up` to the application."""
        self.scope.setdefault("extensions", {})[EXTENSION] = {"call": self.hang_up}
        await super().run_asgi()

    def hang_up(self, code: int, reason: str) -> None:
        """Put a close frame behind what waits, and drop the connection soon, read or not."""
        if not self.close_sent and not self.transport.is_closing():
            self.conn.send_close(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.loop.call_later(FAREWELL_SECONDS, self.transport.abort)


def find_hang_up(scope: Scope) -> HangUp | None:
    """The way to hang up, where the server offers one."""
    offered = scope.get("extensions", {}).get(EXTENSION)
    return None if offered is None else cast("HangUp", offered["call"])
