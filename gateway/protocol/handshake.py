"""Who may open a socket: pure checks of the handshake's headers, before any state exists.

Chromium sends SameSite=Strict cookies to another port of the same host and no Sec-Fetch headers on a WebSocket handshake,
so the cookie proves nothing by itself: `Origin` must equal the origin that the socket belongs to, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from gateway.protocol.frames import SUBPROTOCOL


@dataclass(frozen=True, slots=True)
class HandshakeRequest:
    """The headers that a client sent. Each is a list, because a header that comes twice is ambiguous and is refused."""

    hosts: Sequence[str]
    origins: Sequence[str]
    subprotocols: Sequence[str]


class HandshakeVerdict(Enum):
    """Whether to accept; the value is the HTTP status of a refusal."""

    WELCOME = 101
    NO_SUBPROTOCOL = 400
    NO_SESSION = 401
    FOREIGN_ORIGIN = 403
    UNKNOWN_HOST = 421
    TOO_MANY_SOCKETS = 429

    @property
    def message(self) -> str:
        """One sentence for the author of the client."""
        return _MESSAGES[self]


_MESSAGES = {
    HandshakeVerdict.WELCOME: "welcome",
    HandshakeVerdict.NO_SUBPROTOCOL: f"offer the WebSocket subprotocol `{SUBPROTOCOL}`",
    HandshakeVerdict.NO_SESSION: "sign in first",
    HandshakeVerdict.FOREIGN_ORIGIN: "this socket opens only to pages of its own origin",
    HandshakeVerdict.UNKNOWN_HOST: "this gateway does not answer to that host",
    HandshakeVerdict.TOO_MANY_SOCKETS: "you have as many sockets open as `sockets_per_session` allows; close one first",
}


def judge_handshake(request: HandshakeRequest, *, host: str, origin: str) -> HandshakeVerdict:
    """Compare what was sent with the `host[:port]` and origin of this socket. The session is looked up only afterwards.

    Host names compare without regard to case (RFC 9110 section 4.2.3); an Origin is a serialised tuple and compares as
    it is (RFC 6454 section 6.2).
    """
    if [sent.lower() for sent in request.hosts] != [host.lower()]:
        return HandshakeVerdict.UNKNOWN_HOST
    if list(request.origins) != [origin]:
        return HandshakeVerdict.FOREIGN_ORIGIN
    if SUBPROTOCOL not in request.subprotocols:
        return HandshakeVerdict.NO_SUBPROTOCOL
    return HandshakeVerdict.WELCOME
